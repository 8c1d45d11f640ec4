package io.timingwheel.spring.durable;

import java.time.Duration;

/**
 * A failed task that is to be tried again.
 *
 * @param task the task
 * @param attempt which attempt comes next
 * @param delay how long from now it is due
 * @param error what went wrong, at most {@link DelayedTaskStore#MAX_ERROR_LENGTH}
 * characters
 */
public record Retry(TaskRef task, int attempt, Duration delay, String error) {

}
