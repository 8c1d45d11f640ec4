package io.timingwheel.spring.task.memory;

/**
 * The payload of a task that has failed and waits for another attempt.
 *
 * @param payload the payload of the first attempt
 * @param number which attempt comes next, at least 2
 */
record Attempt(Object payload, int number) {

}
