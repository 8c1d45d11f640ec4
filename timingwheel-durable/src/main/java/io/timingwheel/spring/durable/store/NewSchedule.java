package io.timingwheel.spring.durable.store;

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
 * @param onlyIfLost whether to store the schedule only if the store has lost it. The key
 * is then {@link DelayedTaskStore#DECLARED_KEY}. The store has lost such a schedule if it
 * has neither a task with the schedule nor the mark of a cancel. A cancel of a declared
 * schedule leaves the mark, and a schedule that is stored without this condition removes
 * it. Nodes do this several times a minute
 * @since 0.1
 */
public record NewSchedule(String id, String name, String key, String payload, @Nullable String traceparent,
		String schedule, DueTime first, boolean onlyIfLost) {

}
