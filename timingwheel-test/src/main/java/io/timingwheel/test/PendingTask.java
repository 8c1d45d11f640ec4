package io.timingwheel.test;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A task that has not begun, as it was at one moment. Immutable.
 *
 * @param id the id, which identifies this one scheduling
 * @param key the key, {@code null} for a task without one
 * @param durable whether the task is in the store
 * @since 0.1
 */
public record PendingTask(String id, String name, @Nullable String key, Instant dueAt, boolean durable) {

}
