package io.timingwheel.spring.task.memory;

/**
 * When a task is due. {@link TaskClock} makes deadlines. Immutable.
 *
 * @param delayNanos how long from now, in nanoseconds; negative if the time has passed
 * @param dueNanos the time by the wheel's clock, in nanoseconds
 * @param epochNanos the time by the wall clock, in nanoseconds since the epoch
 * @param absolute whether the user gave a time of the wall clock rather than a delay
 */
public record Deadline(long delayNanos, long dueNanos, long epochNanos, boolean absolute) {

}
