package io.timingwheel.spring.durable;

import java.time.Duration;

/**
 * A failed task that a node gives back for another attempt.
 *
 * @param task the task
 * @param attempt the number of the next attempt
 * @param delay how long from now the task is due
 * @param error what went wrong, at most {@link DelayedTaskStore#MAX_ERROR_LENGTH}
 * characters
 * @since 0.1
 */
public record Retry(TaskRef task, int attempt, Duration delay, String error) {

}
