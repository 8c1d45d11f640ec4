package io.timingwheel.spring.durable.store;

/**
 * The result of moving a pending task. Times are milliseconds since the epoch by the
 * store's clock.
 *
 * @param dueAt when the task is due now
 * @since 0.1
 */
public record Moved(String id, String name, long dueAt, long now) {

}
