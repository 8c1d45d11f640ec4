package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * What the body of a delayed task can find out about its task. Thread-safe.
 *
 * @since 0.1
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
	 * The id, which names this scheduling alone: that of {@link DelayedTask#id()}.
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
	 * How late the body was started, by the wheel's clock.
	 * @return zero or more
	 */
	Duration lateness();

	/**
	 * Which attempt this is. A durable task that failed is tried again, with the same
	 * {@link #id() id} and arguments. Only failures count; a run that a shutdown or the
	 * end of its node has cut off does not.
	 * @return 1 at first; in memory always 1
	 */
	default int attempt() {
		return 1;
	}

	/**
	 * How often the body has been started, this time included. A durable task runs at
	 * least once. If this is above 1, some or all of its side effects may have happened
	 * before, even while {@link #attempt()} is 1. To have an effect only once, store the
	 * {@link #id() id} with it in the same transaction, or send the id along as an
	 * idempotency key.
	 * @return 1 at first; in memory always 1
	 */
	default int deliveries() {
		return 1;
	}

}
