package io.timingwheel.test;

import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import org.assertj.core.api.AbstractAssert;

/**
 * Assertions on what is pending. A failure says what is pending and when it is due.
 *
 * @since 0.1
 */
public final class VirtualTimeAssert extends AbstractAssert<VirtualTimeAssert, VirtualTime> {

	VirtualTimeAssert(VirtualTime actual) {
		super(actual, VirtualTimeAssert.class);
	}

	/** Verifies that a task with a key is pending. Keys are compared by their texts. */
	public PendingTaskAssert hasPending(String name, Object key) {
		String text = text(key);
		return pending(name + " " + text, name, (task) -> text.equals(task.key()));
	}

	/**
	 * Verifies that a task of a name is pending, with or without a key. What follows is
	 * about the one that is due first.
	 */
	public PendingTaskAssert hasPending(String name) {
		return pending(name, name, (task) -> true);
	}

	private PendingTaskAssert pending(String description, String name, Predicate<PendingTask> predicate) {
		PendingTask found = tasks(name).stream().filter(predicate).findFirst().orElse(null);
		if (found == null) {
			throw failure("expected a pending %s; %s", description, Descriptions.pending(this.actual, name));
		}
		PendingTaskAssert assertion = new PendingTaskAssert(found, description, this.actual);
		// A description of the user goes on.
		assertion.info.description(this.info.description());
		assertion.info.useRepresentation(this.info.representation());
		return assertion;
	}

	public VirtualTimeAssert hasNoPending(String name, Object key) {
		String text = text(key);
		return hasNone(name + " " + text, tasks(name).stream().filter((task) -> text.equals(task.key())).toList());
	}

	public VirtualTimeAssert hasNoPending(String name) {
		return hasNone(name, tasks(name));
	}

	public VirtualTimeAssert hasNothingPending() {
		isNotNull();
		return hasNone("task", this.actual.tasks());
	}

	private static String text(Object key) {
		return String.valueOf(Objects.requireNonNull(key, "The key is null. No task has such a key"));
	}

	private List<PendingTask> tasks(String name) {
		isNotNull();
		return this.actual.tasks(name);
	}

	private VirtualTimeAssert hasNone(String description, List<PendingTask> tasks) {
		if (!tasks.isEmpty()) {
			throw failure("expected no pending %s; %s", description, Descriptions.describe(tasks, this.actual.now()));
		}
		return this;
	}

}
