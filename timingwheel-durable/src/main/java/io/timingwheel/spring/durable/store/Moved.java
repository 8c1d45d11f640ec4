package io.timingwheel.spring.durable.store;

/**
 * The result of moving a pending task.
 *
 * @param id the id of the task
 * @param name the name of the task
 * @param dueAt when the task is due now, in milliseconds since the epoch
 * @param now the time by the store's clock, in milliseconds since the epoch
 * @since 0.1
 */
public record Moved(String id, String name, long dueAt, long now) {

}
