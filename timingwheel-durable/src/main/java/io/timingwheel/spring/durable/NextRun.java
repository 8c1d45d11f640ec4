package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * The end of a run of a recurring task, with the time of the next.
 *
 * @param task the task
 * @param schedule the text of the schedule from which the time follows
 * @param due when the next run is due, {@code null} if there is none
 * @param error why this run was given up, {@code null} if it was not
 * @since 0.1
 */
public record NextRun(TaskRef task, String schedule, @Nullable DueTime due, @Nullable String error) {

}
