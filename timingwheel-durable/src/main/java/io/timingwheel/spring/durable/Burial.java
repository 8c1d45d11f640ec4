package io.timingwheel.spring.durable;

/**
 * A task that a node gives up.
 *
 * @param task the task
 * @param reason why, at most {@link DelayedTaskStore#MAX_ERROR_LENGTH} characters
 * @since 0.1
 */
public record Burial(TaskRef task, String reason) {

}
