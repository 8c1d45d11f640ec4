package io.timingwheel.spring.durable;

import java.util.List;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.StoredTask;

/**
 * Pauses durable tasks, and lists, requeues and deletes dead ones. If the application has
 * a store, there is a bean of this type. The operations on pending tasks are those of
 * {@link io.timingwheel.spring.task.DelayedTaskOperations DelayedTaskOperations}.
 * Thread-safe.
 *
 * <p>
 * If the store cannot be reached, its exception goes to the caller.
 *
 * @since 0.1
 */
public interface DurableTaskAdmin {

	/**
	 * Ends the claims of this node until {@link #resume()}, and gives the tasks back
	 * whose bodies have not begun. Bodies that run go on.
	 */
	void pause();

	/** Ends a {@link #pause()}. */
	void resume();

	/**
	 * Whether this node claims tasks: not during a pause, nor once the application shuts
	 * down.
	 */
	boolean isClaiming();

	/**
	 * Pauses a name for all nodes, or resumes it. This includes the earlier names of the
	 * method. This node gives the tasks of the name back that have not begun. Other nodes
	 * do so at their next poll. Bodies that run go on.
	 * @throws IllegalArgumentException if there can be no such name
	 * @throws UnsupportedOperationException if the store cannot pause names
	 */
	void setPaused(String name, boolean paused);

	/**
	 * Whether this node starts no task of a name, since the policy of the name or the
	 * switch in the store says so, as of the latest poll or change of this node.
	 */
	boolean isPaused(String name);

	/**
	 * Reads at most so many dead tasks of a name and of the earlier names of its method,
	 * the one that died last first.
	 * @param limit more than 5,000 count as 5,000
	 */
	List<StoredTask> findDead(String name, int limit);

	/** Makes a dead task pending again, due now. */
	Requeue requeueDead(String id);

	/** Deletes a task, and tells whether it was dead. */
	boolean deleteDead(String id);

}
