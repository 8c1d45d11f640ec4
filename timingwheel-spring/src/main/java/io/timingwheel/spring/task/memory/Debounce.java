package io.timingwheel.spring.task.memory;

/**
 * The payload of a pending task that was scheduled with a longest wait.
 *
 * @param payload the payload of the latest call
 * @param firstNanos the time of the first call since the task last began, by the wheel's
 * clock
 */
record Debounce(Object payload, long firstNanos) {

}
