package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * A schedule that is to be stored as a task.
 *
 * @param id the id of the task if no task has the schedule's name and key yet, or if the
 * task there is pending and has another schedule or payload
 * @param name the name of the task
 * @param key the key of the schedule
 * @param payload what to run
 * @param traceparent the trace of the caller, {@code null} for none
 * @param schedule the text of the schedule, at most
 * {@value DelayedTaskStore#MAX_SCHEDULE_LENGTH} characters
 * @param first when the first run is due
 * @since 0.1
 */
public record NewSchedule(String id, String name, String key, String payload, @Nullable String traceparent,
		String schedule, DueTime first) {

}
