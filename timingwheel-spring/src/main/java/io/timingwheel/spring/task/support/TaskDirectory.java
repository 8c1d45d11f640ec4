package io.timingwheel.spring.task.support;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The tasks of one wheel by their names. The number of names is limited, since each name
 * becomes a tag of metrics. The tasks of all names beyond the limit are kept and counted
 * together. Thread-safe.
 */
final class TaskDirectory {

	private static final Log logger = LogFactory.getLog(TaskDirectory.class);

	/** How many names there are at most, {@link #OVERFLOW} included. */
	static final int LIMIT = 1000;

	/** The common name of the tasks whose own names are beyond the limit. */
	static final String OVERFLOW = "other";

	private final Map<String, NamedTasks> byName = new ConcurrentHashMap<>();

	private final List<Consumer<String>> listeners = new ArrayList<>();

	private final TaskEnvironment environment;

	private final NamedTasks overflow;

	TaskDirectory(TaskEnvironment environment) {
		this.environment = environment;
		this.overflow = new OverflowTasks(environment);
	}

	/**
	 * The tasks of a name. An unknown name gives the tasks beyond the limit.
	 */
	NamedTasks get(String name) {
		return this.byName.getOrDefault(name, this.overflow);
	}

	/**
	 * Makes a name known.
	 * @return its tasks
	 */
	NamedTasks register(String name) {
		NamedTasks tasks = this.byName.get(name);
		return (tasks != null) ? tasks : add(name);
	}

	/**
	 * Makes a name known as that of tasks in memory.
	 * @return its tasks
	 */
	NamedTasks declare(String name) {
		NamedTasks tasks = register(name);
		tasks.setDeclared();
		return tasks;
	}

	/**
	 * Whether a name was declared, rather than only registered.
	 */
	boolean isDeclared(String name) {
		NamedTasks tasks = this.byName.get(name);
		return tasks != null && tasks.isDeclared();
	}

	private synchronized NamedTasks add(String name) {
		NamedTasks known = this.byName.get(name);
		if (known != null) {
			return known;
		}
		PolicySettings policy = this.environment.policies().of(name);
		// The names with a policy are known from the code and the configuration, so their
		// number is limited anyway.
		boolean full = name.equals(OVERFLOW) || (this.byName.size() >= LIMIT - 1 && policy.equals(PolicySettings.NONE));
		NamedTasks tasks = full ? this.overflow : new NamedTasks(name, this.environment);
		if (!full) {
			tasks.setPolicy(policy);
		}
		if (this.byName.putIfAbsent(tasks.name(), tasks) == null) {
			this.listeners.forEach((listener) -> tell(listener, tasks.name()));
		}
		return tasks;
	}

	/**
	 * Tells a listener of a new name. Its exception is logged only, since the name may
	 * belong to a task that has to be settled.
	 */
	private static void tell(Consumer<String> listener, String name) {
		try {
			listener.accept(name);
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "A listener for the names of tasks threw an exception for " + name, ex);
		}
	}

	/**
	 * Calls a listener once for each name: at once for the known names, later for others.
	 */
	synchronized void onName(Consumer<String> listener) {
		this.byName.keySet().forEach(listener);
		this.listeners.add(listener);
	}

	/**
	 * The tasks of all known names; a live view.
	 */
	Collection<NamedTasks> all() {
		return this.byName.values();
	}

	/**
	 * How many tasks of all names have not begun.
	 */
	long pendingCount() {
		return all().stream().mapToLong((tasks) -> tasks.pending().mappingCount()).sum();
	}

	/**
	 * How many tasks of all names have begun and not ended. The figure may be too high
	 * for a moment, but never too low.
	 */
	long runningCount() {
		return all().stream().mapToLong((tasks) -> tasks.recorder().running()).sum();
	}

	/**
	 * The tasks of all names beyond the limit. Each task is found by its name and key,
	 * but all are counted together. A name that is made up at run time therefore takes no
	 * memory after its tasks have ended.
	 */
	private static final class OverflowTasks extends NamedTasks {

		OverflowTasks(TaskEnvironment environment) {
			super(OVERFLOW, environment);
		}

		@Override
		Object slot(String name, Object key) {
			return new TaskKeys.Qualified(name, key);
		}

		@Override
		boolean contains(String name, PendingTask task) {
			return OVERFLOW.equals(name) || task.definition().name().equals(name);
		}

	}

}
