package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * What the body of a delayed task may know about itself.
 */
public interface DelayedTaskContext {

	/**
	 * The task that the current thread is running.
	 * @return the task, empty outside of a body
	 */
	static Optional<DelayedTaskContext> current() {
		return Optional.ofNullable(DelayedTaskContextHolder.get());
	}

	/**
	 * The task's name.
	 * @return the name, {@code unnamed} if none was given
	 */
	String name();

	/**
	 * Names this scheduling alone; that of {@link DelayedTask#id()}.
	 * @return the id
	 */
	String id();

	/**
	 * The name and key under which the task was pending.
	 * @return the identity, {@code null} for a task without a key
	 */
	@Nullable TaskId taskId();

	/**
	 * When the task was due.
	 * @return the time by the wall clock
	 */
	Instant dueAt();

	/**
	 * How late it was started, by the wheel's clock.
	 * @return zero or more
	 */
	Duration lateness();

	/**
	 * Which attempt this is. A durable task that failed is tried again, with the same
	 * {@link #id() id} and arguments; each failure counts, a run that was cut off by a
	 * shutdown or by the end of its node does not.
	 * @return 1 at first; in memory always 1
	 */
	default int attempt() {
		return 1;
	}

	/**
	 * How often the body has been begun, this time included. A durable task runs at least
	 * once: above 1, all or part of its side effects may have happened before, also while
	 * {@link #attempt()} is 1. To have an effect only once, record the {@link #id() id}
	 * with it, in the same transaction, or send it along as an idempotency key.
	 * @return 1 at first; in memory always 1
	 */
	default int deliveries() {
		return 1;
	}

}
