package io.timingwheel.spring.task.support;

/**
 * The tasks of all names beyond the limit. They are found by name and key like others,
 * but counted together, so that names made up at run time cost no memory once their tasks
 * are gone.
 */
final class OverflowTasks extends NamedTasks {

	static final String NAME = "other";

	OverflowTasks(DelayedTaskRegistry owner) {
		super(NAME, owner);
	}

	@Override
	Object slot(String name, Object key) {
		return new TaskKeys.Qualified(name, key);
	}

	@Override
	boolean contains(String name, PendingTask task) {
		return NAME.equals(name) || task.definition().name().equals(name);
	}

}
