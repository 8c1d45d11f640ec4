package io.timingwheel.spring.durable;

/**
 * A pending task that was moved.
 *
 * @param task the task as it is now
 * @param now the time by the engine's clock
 * @param leased whether the caller has leased it and is to put it on its wheel
 */
public record Rescheduled(LeasedTask task, long now, boolean leased) {

}
