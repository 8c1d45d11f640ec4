package io.timingwheel.spring.aop.internal.delayed;

import java.time.Duration;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/** Stores the tasks of annotated methods. A bean if there is a store. Thread-safe. */
public interface DurableMethods {

	/** Whether a durable method of this application has a name or alias. */
	boolean owns(String name);

	/**
	 * Lets the stored calls of a method run here, by the first registration.
	 * @throws InvalidAnnotatedMethodException if its calls cannot be stored, or cannot
	 * run as it demands
	 */
	StoredCalls register(DurableMethod method);

	/**
	 * Declares the schedule of a method, which is stored when the node starts.
	 * @param initialDelay when the first run is due after the schedule is stored for the
	 * first time, {@code null} for the first time of the schedule
	 */
	void registerSchedule(DurableMethod method, Schedule schedule, @Nullable Duration initialDelay);

	/** Ends the runs of a method on this node. Its tasks stay in the store. */
	void unregister(DurableMethod method);

	/** Cancels a pending task or a schedule, with the transaction of the thread. */
	boolean cancel(TaskId taskId);

	/** Finds a pending task, and returns what cancels it later if it is pending then. */
	Runnable cancellation(TaskId taskId);

	interface StoredCalls {

		/** Gives the task, or the pending task that it gave way to. */
		DelayedTask<@Nullable Void> store(@Nullable Object key, IfPending ifPending, @Nullable Duration maxWait,
				CallTime due, @Nullable Object[] arguments);

	}

}
