package io.timingwheel.spring.durable;

/**
 * The result of moving a pending task.
 *
 * @param task the task as it is now
 * @param now the time by the store's clock, in milliseconds since the epoch
 * @param leased whether the caller has leased the task, and puts it on its wheel
 * @since 0.1
 */
public record Rescheduled(LeasedTask task, long now, boolean leased) {

}
