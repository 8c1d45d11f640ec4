package io.timingwheel.spring.aop.internal.delayed;

import java.time.Duration;
import java.time.Instant;

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

	/** Cancels a pending task or a schedule, with the transaction of the thread. */
	boolean cancel(TaskId taskId);

	/**
	 * When a call is due: after a delay by the clock that keeps the task, or at a time.
	 *
	 * @param delay of no meaning if there is a time
	 */
	record CallTime(Duration delay, @Nullable Instant time) {

		static CallTime after(Duration delay) {
			return new CallTime(delay, null);
		}

		static CallTime at(Instant time) {
			return new CallTime(Duration.ZERO, time);
		}

	}

	interface StoredCalls {

		/** Gives the task, or the pending task that it gave way to. */
		DelayedTask<@Nullable Void> store(@Nullable Object key, IfPending ifPending, @Nullable Duration maxWait,
				CallTime due, @Nullable Object[] arguments);

	}

}
