package io.timingwheel.spring.task.support;

/**
 * When a task is due. Made by {@link TaskClock}.
 *
 * @param delayNanos how long from now
 * @param dueNanos the time by the wheel's clock
 * @param epochNanos the time by the wall clock, in nanoseconds since the epoch
 * @param absolute whether it was given as a time of the wall clock, not as a delay
 */
public record Deadline(long delayNanos, long dueNanos, long epochNanos, boolean absolute) {

}
