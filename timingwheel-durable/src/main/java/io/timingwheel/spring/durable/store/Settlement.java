package io.timingwheel.spring.durable.store;

import java.time.Duration;

import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * How a node ends what it does with a task.
 *
 * @since 0.1
 */
public sealed interface Settlement {

	TaskRef task();

	/** A running task is done, and is deleted. */
	record Acknowledge(TaskRef task) implements Settlement {

	}

	/**
	 * A run of a recurring task has ended or is left out. The task becomes scheduled for
	 * its next run, or for the first time of the schedule that it got during the run. It
	 * is deleted if its schedule has ended.
	 *
	 * @param schedule the text of the schedule from which the time follows
	 * @param next when the next run is due, {@code null} if there is none
	 * @param error why this run was given up, {@code null} if it was not; at most
	 * {@link DelayedTaskStore#MAX_ERROR_LENGTH} characters
	 */
	record Repeat(TaskRef task, String schedule, @Nullable DueTime next, @Nullable String error) implements Settlement {

	}

	/**
	 * A running task has failed, and becomes scheduled for another attempt. It is deleted
	 * if its key belongs to a newer task, or as the last run of a cancelled schedule.
	 *
	 * @param attempt the number of the next attempt
	 * @param delay how long from now the task is due
	 * @param error at most {@link DelayedTaskStore#MAX_ERROR_LENGTH} characters
	 */
	record Retry(TaskRef task, int attempt, Duration delay, String error) implements Settlement {

	}

	/**
	 * The node gives a task back, leased or running. The due time, the attempt and the
	 * lost deliveries stay. A running task takes its key again, or is deleted as by
	 * {@link Retry}.
	 *
	 * @param started whether the body has started. If not, a delivery that has begun does
	 * not count, so that a schedule that leaves missed times out keeps such a run
	 */
	record Release(TaskRef task, boolean started) implements Settlement {

	}

	/**
	 * The node gives a task up for good. The store keeps it dead, without its key, until
	 * it is requeued or discarded. A store may keep a limited number, and then drops the
	 * oldest. The last run of a cancelled schedule is deleted.
	 *
	 * @param reason at most {@link DelayedTaskStore#MAX_ERROR_LENGTH} characters
	 */
	record Bury(TaskRef task, String reason) implements Settlement {

	}

}
