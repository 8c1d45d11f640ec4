package io.timingwheel.spring.durable.store;

/**
 * The schedule of a recurring task.
 *
 * @param scheduledAt the time of the run by the schedule, in milliseconds since the
 * epoch; later than the due time of the task if the run is an additional one, or if the
 * task has got another schedule while it was running or overdue
 * @since 0.1
 */
public record StoredSchedule(String text, long scheduledAt) {

}
