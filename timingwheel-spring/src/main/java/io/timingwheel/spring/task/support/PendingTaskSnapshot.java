package io.timingwheel.spring.task.support;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A reading of a task that has not begun.
 *
 * @param id names this scheduling alone
 * @param name the task's name
 * @param key the key, {@code null} for a task without one
 * @param dueAt when it is due
 */
public record PendingTaskSnapshot(String id, String name, @Nullable String key, Instant dueAt) {

}
