package io.timingwheel.spring.task.memory;

/**
 * The payload of a pending task that was scheduled with a longest wait, and when the
 * first call since the task last began came, by the wheel's clock.
 */
record Debounce(Object payload, long firstNanos) {

}
