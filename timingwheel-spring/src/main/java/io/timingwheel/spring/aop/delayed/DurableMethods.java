package io.timingwheel.spring.aop.delayed;

import java.time.Duration;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The durable tasks of an application, as its annotated methods use them. There is a bean
 * of this type if tasks can be stored. Thread-safe.
 *
 * @since 0.1
 */
public interface DurableMethods {

	/**
	 * Whether a durable method of this application has a name or alias.
	 */
	boolean owns(String name);

	/**
	 * Makes a method known, so that its stored calls can run here. If the method is known
	 * already, the object of the first registration goes on to run them.
	 * @throws InvalidAnnotatedMethodException if calls of the method cannot be stored, or
	 * cannot run as it demands
	 */
	StoredCalls register(DurableMethod method);

	/**
	 * Makes a method without arguments known, and declares its schedule. The schedule is
	 * stored when the node starts.
	 * @param initialDelay when the first run is due after the schedule is stored for the
	 * first time, {@code null} for the first time of the schedule
	 * @throws InvalidAnnotatedMethodException if the schedule cannot be stored
	 */
	void registerSchedule(DurableMethod method, Schedule schedule, @Nullable Duration initialDelay);

	/**
	 * Ends the runs of a method on this node. Its tasks stay in the store.
	 */
	void unregister(DurableMethod method);

	/**
	 * Cancels a pending task of any node, or ends a schedule. Takes part in the
	 * transaction of the calling thread, or takes effect after its commit.
	 * @return whether there was one
	 */
	boolean cancel(TaskId taskId);

	/**
	 * Finds the pending task with a key, for a cancellation later.
	 * @return cancels the task that has been found, if it is still pending
	 */
	Runnable cancellation(TaskId taskId);

	/**
	 * Stores the calls of one method. Thread-safe.
	 *
	 * @since 0.1
	 */
	interface StoredCalls {

		/**
		 * Stores a call. Takes part in the transaction of the calling thread, or takes
		 * effect after its commit.
		 * @param key the key, compared by its text; {@code null} for a task without a key
		 * @param maxWait how long replacements can put the task off, {@code null} for no
		 * limit
		 * @return the task, or the pending task that it gave way to
		 * @throws DuplicateTaskException if another task is pending and {@code ifPending}
		 * asks for rejection
		 * @throws IllegalArgumentException if the arguments or the key cannot be stored
		 * @throws org.springframework.core.task.TaskRejectedException after shutdown
		 */
		DelayedTask<@Nullable Void> store(@Nullable Object key, IfPending ifPending, @Nullable Duration maxWait,
				CallTime due, @Nullable Object[] arguments);

	}

}
