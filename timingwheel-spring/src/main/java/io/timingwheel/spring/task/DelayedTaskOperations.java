package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.util.Assert;

/**
 * Schedules tasks for later. Tasks run on an executor, never on the wheel's thread.
 * {@code schedule} and {@code task} keep tasks in the memory of this JVM; {@code enqueue}
 * stores calls of durable {@code @Delayed} methods, which any node may run. Thread-safe.
 *
 * <p>
 * A task with a {@link TaskId} is a keyed task: at most one task is pending under an id,
 * and each of the operations below is atomic. A task is pending until its body begins.
 *
 * <p>
 * A delay counts from now. Zero and negative delays mean as soon as possible, and those
 * of more than 292 years saturate. The arguments of a durable method are given by their
 * positions. The handle of a durable task gives no result.
 *
 * <p>
 * The exception of a task in memory completes its future. If nobody waits for the future
 * then, and nothing depends on it, the exception also goes to the
 * {@link org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler
 * AsyncUncaughtExceptionHandler}, as for {@code @Async} methods. A task with several runs
 * ends with the first run that throws an exception.
 *
 * <p>
 * The methods that store calls throw an {@link IllegalStateException} if there is no
 * store and a {@link TaskRejectedException} after shutdown. They throw an
 * {@link IllegalArgumentException} if the arguments cannot be stored, or if this node has
 * the method and it does not take these arguments or is a {@code @Recurring} method. Then
 * nothing is stored.
 *
 * <p>
 * {@code null} arguments cause an {@link IllegalArgumentException}.
 *
 * @since 0.1
 */
public interface DelayedTaskOperations {

	/**
	 * Schedules a task without a key.
	 * @param delay how long from now; zero or negative for as soon as possible
	 * @return the handle of the task, with the future of its end
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending
	 */
	default DelayedTask<@Nullable Void> schedule(Duration delay, Runnable task) {
		return task(task).after(delay);
	}

	/**
	 * Schedules a task without a key that gives a result, as
	 * {@link #schedule(Duration, Runnable)} does.
	 * @param <T> the type of the result
	 * @return the handle of the task, with the future of its result
	 */
	default <T extends @Nullable Object> DelayedTask<T> schedule(Duration delay, Callable<T> task) {
		return task(task).after(delay);
	}

	/**
	 * Schedules a keyed task. It replaces the task that is pending under the id.
	 * @param delay how long from now; zero or negative for as soon as possible
	 * @return the handle of the new task
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending;
	 * then the pending task stays
	 */
	default DelayedTask<@Nullable Void> schedule(TaskId id, Duration delay, Runnable task) {
		return task(task).id(id).after(delay);
	}

	/**
	 * Begins the description of a task.
	 * @return the description, whose last step schedules the task
	 */
	TaskSpec<@Nullable Void> task(Runnable task);

	/**
	 * Begins the description of a task that gives a result.
	 * @param <T> the type of the result
	 */
	<T extends @Nullable Object> TaskSpec<T> task(Callable<T> task);

	/**
	 * Stores a call of the durable {@code @Delayed} method with the name of the id. It
	 * replaces the call that is pending under the id. This node need not have the method.
	 * In a transaction the call takes effect at the commit.
	 * @param delay how long from now; zero or negative for as soon as possible
	 * @param arguments the arguments of the method by their positions; {@code null} where
	 * the method takes it
	 * @return the handle of the call, which gives no result
	 */
	default DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments) {
		Assert.notNull(delay, "The delay must not be null");
		return enqueueAll(List.of(DurableCall.of(id, delay, arguments))).get(0);
	}

	/**
	 * Stores a call of the durable {@code @Delayed} method with the name of the id, as
	 * {@link #enqueue(TaskId, Duration, Object...)} does.
	 * @param due when it is due, by the clock of the store; may be in the past
	 */
	default DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments) {
		Assert.notNull(due, "The time must not be null");
		return enqueueAll(List.of(DurableCall.of(id, due, arguments))).get(0);
	}

	/**
	 * Stores many calls at once, with far fewer requests than one {@link #enqueue} for
	 * each call. The calls are stored in this order: of two calls with the same key, the
	 * later one replaces the earlier one.
	 * <p>
	 * A database stores all of the calls or none, within the caller's transaction if
	 * there is one. Some drivers have no savepoints in a global transaction. If this
	 * method throws in such a transaction, the caller must roll the transaction back.
	 * Redis stores the calls after the commit of the caller's transaction. Redis writes
	 * to each partition separately, up to 500 calls at once. If one of these writes
	 * fails, all writes to other partitions and the earlier writes to the same partition
	 * stay, and this method throws the exception of the failed write.
	 * @return the tasks, in the order of the calls, whose names may differ
	 */
	List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls);

	/**
	 * Stores a schedule for the durable {@code @Delayed} method with the name of the id:
	 * the method runs at each of its times, once in all nodes together. There is one
	 * schedule with an id. If it is the same schedule, its next time stays, and its runs
	 * get the new arguments. Another schedule takes its place, and a run that is overdue
	 * stays due. A schedule with the key under an alias of the method counts as one with
	 * the id. Times that pass without a run have one run at once. The first run of a
	 * period is due after one period. {@link #cancel} ends the schedule, and
	 * {@link #find} shows its next time. {@link #reschedule} to an earlier time makes an
	 * additional run. To a later time it puts the next run off, which then stands for the
	 * times before it. In a transaction the schedule takes effect at the commit.
	 * @param schedule the times, by the clock of the store
	 * @return the handle of the next run
	 */
	DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments);

	/**
	 * Cancels a pending task, or ends a schedule, in memory or in the store. Another node
	 * may have stored the durable task. A name that this node does not know is looked up
	 * in memory first, then in the store. A task in memory is cancelled at once, also
	 * within a transaction. This includes a task that an earlier call of the transaction
	 * is going to schedule at the commit. A durable task is cancelled with the
	 * transaction.
	 * @return {@code true} if there was one; this task will never run
	 */
	boolean cancel(TaskId id);

	/**
	 * Moves the time at which a pending task is due.
	 * @param delay how long from now; zero or negative for as soon as possible
	 * @return {@code true} if there was one
	 * @throws TaskRejectedException if the task waits for its executor and too many tasks
	 * are pending; the task then stays as it is
	 */
	boolean reschedule(TaskId id, Duration delay);

	/**
	 * Finds a pending task, in memory first.
	 * @return its handle; empty if none is pending
	 */
	Optional<DelayedTask<?>> find(TaskId id);

	/** How many tasks are pending in the memory of this JVM, of all names. */
	long pendingCount();

}
