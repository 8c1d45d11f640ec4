package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * A task that runs after a delay, and its result.
 *
 * <p>
 * {@link #cancel cancel} before the start removes the task at once, and it never runs.
 * After the start {@code cancel(false)} only abandons the result, and
 * {@code cancel(true)} also interrupts the body. A second call says {@code false}.
 *
 * <p>
 * All methods may be called from any thread.
 *
 * @param <T> the type of the result
 */
public interface DelayedTask<T extends @Nullable Object> extends Future<T> {

	/**
	 * Names this scheduling alone; never reused.
	 * @return the id
	 */
	String id();

	/**
	 * The name and key under which the task is pending.
	 * @return the identity, {@code null} for a task without a key
	 */
	@Nullable TaskId taskId();

	/**
	 * When the task is due; of a periodic task, its next run.
	 * @return the time by the wall clock, computed when the task was scheduled
	 */
	Instant dueAt();

	/**
	 * Where the task stands.
	 * @return the status
	 */
	Status status();

	/**
	 * Moves the time at which a pending task is due.
	 * @param delay how long from now; zero and negative: as soon as possible
	 * @return {@code true} if it was moved, {@code false} if it is not pending
	 * @throws org.springframework.core.task.TaskRejectedException if it waits for its
	 * executor already and too many tasks are pending; it stays as it is then
	 */
	boolean reschedule(Duration delay);

	/**
	 * The result as a stage. Cancelling or completing it by hand before the start removes
	 * the task.
	 * @return the one future of this task
	 */
	CompletableFuture<T> completion();

	/**
	 * A task that is done, to be returned from the body of a {@code @Delayed} method.
	 * @param <T> the type of the result
	 * @param value the result
	 * @return the task
	 */
	static <T extends @Nullable Object> DelayedTask<T> completed(T value) {
		return new CompletedTask<>(value);
	}

	/**
	 * Where a task stands. ({@link Future} has a {@code state()} of its own.)
	 */
	enum Status {

		/** It has not begun. */
		SCHEDULED,

		/** Its body runs, or the future that the body returned is not complete. */
		RUNNING,

		/** It ended with a result. */
		SUCCEEDED,

		/** It ended with an exception. */
		FAILED,

		/** It was called off, by a user, a rollback, its expiry or a shutdown. */
		CANCELLED,

		/** A newer task took its place before it began. */
		REPLACED

	}

}
