package io.timingwheel.spring.task.support;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A task in memory that has not begun, as it was at one moment. Immutable.
 *
 * @param id identifies this one scheduling; never reused
 * @param name the task's name
 * @param key the key, {@code null} for a task without one
 * @param dueAt when it is due, by the wall clock
 * @since 0.1
 */
public record PendingTaskSnapshot(String id, String name, @Nullable String key, Instant dueAt) {

}
