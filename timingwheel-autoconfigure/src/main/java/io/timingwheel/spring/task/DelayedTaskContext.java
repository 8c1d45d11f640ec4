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
		return Optional.ofNullable(TaskRun.CURRENT.get());
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

}
