package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * Schedules tasks for later. Tasks run on an executor, never on the wheel's thread.
 * {@code schedule} and {@code task} keep them in the memory of this JVM; {@code enqueue}
 * stores calls of durable {@code @Delayed} methods, for any node to run. Thread-safe.
 *
 * <p>
 * Keyed tasks are those with a {@link TaskId}: at most one of them is pending under it,
 * and each of the operations below is atomic. A task is pending until its body begins.
 *
 * <p>
 * {@code null} arguments cause an {@link IllegalArgumentException}.
 */
public interface DelayedTaskOperations {

	/**
	 * Schedules a task without a key.
	 * @param delay how long from now; zero and negative: as soon as possible; more than
	 * 292 years saturate
	 * @param task what to run
	 * @return the task
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending
	 */
	DelayedTask<@Nullable Void> schedule(Duration delay, Runnable task);

	/**
	 * Schedules a task without a key that gives a result.
	 * @param <T> the type of the result
	 * @param delay how long from now
	 * @param task what to run
	 * @return the task
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending
	 */
	<T extends @Nullable Object> DelayedTask<T> schedule(Duration delay, Callable<T> task);

	/**
	 * Schedules a keyed task, in place of the one that is pending.
	 * @param id name and key
	 * @param delay how long from now
	 * @param task what to run
	 * @return the task
	 * @throws TaskRejectedException after shutdown, or if too many tasks are pending; one
	 * that was pending stays then
	 */
	DelayedTask<@Nullable Void> schedule(TaskId id, Duration delay, Runnable task);

	/**
	 * Begins the description of a task.
	 * @param task what to run
	 * @return what else can be said
	 */
	TaskSpec<@Nullable Void> task(Runnable task);

	/**
	 * Begins the description of a task that gives a result.
	 * @param <T> the type of the result
	 * @param task what to run
	 * @return what else can be said
	 */
	<T extends @Nullable Object> TaskSpec<T> task(Callable<T> task);

	/**
	 * Stores a call of the durable {@code @Delayed} method with the name of the id, also
	 * one that only other nodes have, in place of the call that is pending under the id.
	 * What is stored in a transaction is there once it commits.
	 * @param id name and key
	 * @param delay how long from now; zero and negative: as soon as possible
	 * @param arguments what the method is given, by position
	 * @return the task; its result cannot be asked for
	 * @throws IllegalStateException if there is no store
	 * @throws IllegalArgumentException if this node has the method and it does not take
	 * these arguments, or if they cannot be stored; nothing is stored then
	 * @throws TaskRejectedException after shutdown
	 */
	DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments);

	/**
	 * Stores a call of the durable {@code @Delayed} method with the name of the id, as
	 * {@link #enqueue(TaskId, Duration, Object...)} does.
	 * @param id name and key
	 * @param due when it is due, by the clock of the store; may be past
	 * @param arguments what the method is given, by position
	 * @return the task; its result cannot be asked for
	 * @throws IllegalStateException if there is no store
	 * @throws IllegalArgumentException if this node has the method and it does not take
	 * these arguments, or if they cannot be stored; nothing is stored then
	 * @throws TaskRejectedException after shutdown
	 */
	DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments);

	/**
	 * Stores many calls at once, as if {@link #enqueue} stored one after another in this
	 * order, in far fewer requests: of two calls with the same key the later one replaces
	 * the earlier.
	 * <p>
	 * In a database all are stored or none, within the caller's transaction if there is
	 * one; if this throws and the driver has no savepoints, as some have none in a global
	 * transaction, that has to be rolled back. On Redis, where they are stored after the
	 * commit of such a transaction, each partition is written for itself, 500 calls at
	 * once: if one fails, those of the others and its earlier ones are stored all the
	 * same, and this throws what the failed one has met.
	 * @param calls the calls; their names and ways to be due may differ
	 * @return the tasks, in the order of the calls; their results cannot be asked for
	 * @throws IllegalStateException if there is no store
	 * @throws IllegalArgumentException if a call cannot be stored; no other is either
	 * then
	 * @throws TaskRejectedException after shutdown
	 */
	List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls);

	/**
	 * Calls off a pending task, whoever scheduled it: a durable one also on other nodes.
	 * A name that is not known here is looked up in memory first, then in the store.
	 * @param id name and key
	 * @return {@code true} if there was one: it will never run
	 */
	boolean cancel(TaskId id);

	/**
	 * Moves the time at which a pending task is due.
	 * @param id name and key
	 * @param delay how long from now
	 * @return {@code true} if there was one
	 * @throws TaskRejectedException if it waits for its executor already and too many
	 * tasks are pending; it stays as it is then
	 */
	boolean reschedule(TaskId id, Duration delay);

	/**
	 * Finds a pending task.
	 * @param id name and key
	 * @return the task
	 */
	Optional<DelayedTask<?>> find(TaskId id);

	/**
	 * How many tasks are pending in the memory of this JVM, of all names.
	 * @return the number
	 */
	long pendingCount();

}
