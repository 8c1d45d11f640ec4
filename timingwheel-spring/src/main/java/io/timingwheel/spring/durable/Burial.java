package io.timingwheel.spring.durable;

/**
 * A task that is given up.
 *
 * @param task the task
 * @param reason why, at most {@link DelayedTaskStore#MAX_ERROR_LENGTH} characters
 */
public record Burial(TaskRef task, String reason) {

}
