package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The durable tasks, as the template uses them. In a transaction, {@code enqueue},
 * {@code cancel} and {@code reschedule} take effect when it commits. Thread-safe.
 *
 * @since 0.1
 */
public interface DurableTaskOperations {

	/**
	 * Whether a durable method of this application has the name.
	 * @param name the name
	 * @return whether its tasks are stored
	 */
	boolean owns(String name);

	/**
	 * Stores a call of a durable method. The call replaces the pending task with this id.
	 * @param id name and key
	 * @param delay how long from now; zero and negative: as soon as possible
	 * @param arguments the arguments of the method
	 * @return the task
	 */
	DelayedTask<@Nullable Void> enqueue(TaskId id, Duration delay, @Nullable Object... arguments);

	/**
	 * Stores a call of a durable method. The call replaces the pending task with this id.
	 * @param id name and key
	 * @param due when it is due, by the clock of the store; may be in the past
	 * @param arguments the arguments of the method
	 * @return the task
	 */
	DelayedTask<@Nullable Void> enqueue(TaskId id, Instant due, @Nullable Object... arguments);

	/**
	 * Stores calls of durable methods at once. Each call replaces the pending task with
	 * its key.
	 * @param calls the calls
	 * @return the tasks, in the order of the calls
	 */
	List<DelayedTask<@Nullable Void>> enqueueAll(Collection<DurableCall> calls);

	/**
	 * Stores a schedule of a durable method.
	 * @param id name and key
	 * @param schedule the times
	 * @param arguments the arguments of the method
	 * @return the task
	 */
	DelayedTask<@Nullable Void> recur(TaskId id, Schedule schedule, @Nullable Object... arguments);

	/**
	 * Cancels a pending task of any node, or ends a schedule.
	 * @param id name and key
	 * @return whether there was one
	 */
	boolean cancel(TaskId id);

	/**
	 * Moves the due time of a pending task of any node.
	 * @param id name and key
	 * @param delay how long from now
	 * @return whether there was one
	 */
	boolean reschedule(TaskId id, Duration delay);

	/**
	 * Finds a pending task.
	 * @param id name and key
	 * @return the task, empty if none is pending
	 */
	Optional<DelayedTask<?>> find(TaskId id);

}
