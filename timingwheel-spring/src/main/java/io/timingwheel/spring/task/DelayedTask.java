package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * A task that runs after a delay, and its result. Thread-safe.
 *
 * <p>
 * {@link #cancel cancel} before the start removes the task at once, and the task never
 * runs. After the start, {@code cancel(false)} only gives up the result, and
 * {@code cancel(true)} also interrupts the body. If the task has been cancelled already,
 * {@code cancel} returns {@code false}.
 *
 * <p>
 * A durable task has no result, since any node may run it. Its {@link #get get} and
 * {@link #completion completion} throw {@link UnsupportedOperationException}. Its
 * {@link #status status}, {@link #isDone isDone}, {@code cancel} and {@link #reschedule
 * reschedule} ask the store, and throw the exceptions of the store. Its {@code cancel}
 * removes a task that has not begun, or ends a schedule.
 *
 * @param <T> the type of the result
 * @since 0.1
 */
public interface DelayedTask<T extends @Nullable Object> extends Future<T> {

	/** The id, which identifies this one scheduling and is never reused. */
	String id();

	/**
	 * The name and key under which the task is pending; {@code null} for a task without a
	 * key.
	 */
	@Nullable TaskId taskId();

	/**
	 * When the task is due by the wall clock, computed when the task was scheduled. For a
	 * task with several runs, this is the due time of the next run.
	 */
	Instant dueAt();

	Status status();

	/**
	 * Moves the time at which a pending task is due.
	 * @param delay how long from now; zero and negative: as soon as possible
	 * @return {@code true} if it was moved, {@code false} if it is not pending
	 * @throws org.springframework.core.task.TaskRejectedException if the task waits for
	 * its executor and too many tasks are pending; the task then stays as it is
	 */
	boolean reschedule(Duration delay);

	/**
	 * The result as a future, always the same object. If a caller cancels or completes
	 * the future before the start, the task is removed.
	 * @throws UnsupportedOperationException if the task is durable
	 */
	CompletableFuture<T> completion();

	/**
	 * Creates a task that has ended with a result. The body of a {@code @Delayed} method
	 * returns it.
	 * @param <T> the type of the result
	 */
	static <T extends @Nullable Object> DelayedTask<T> completed(T value) {
		return new CompletedTask<>(value);
	}

	/**
	 * The status of a task. It differs from {@code Future.state()}, which newer releases
	 * of Java have.
	 */
	enum Status {

		/** It has not begun. */
		SCHEDULED,

		/** Its body runs, or the future that the body returned is not complete. */
		RUNNING,

		/**
		 * It ended with a result. A durable task also has this status if it is no longer
		 * in the store, even if another call has cancelled or replaced it.
		 */
		SUCCEEDED,

		/** It ended with an exception. A durable task has this status when it is dead. */
		FAILED,

		/** A user, a rollback, its expiry or the shutdown has cancelled it. */
		CANCELLED,

		/** A newer task has replaced it before it began. */
		REPLACED

	}

}
