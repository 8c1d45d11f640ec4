package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * The request for a page of the pending tasks of a name, in the order in which they are
 * due.
 *
 * @param name the name
 * @param after the last task of the page before; {@code null} for the first page
 * @param limit the largest number of tasks, at least 1
 * @since 0.1
 */
public record PendingQuery(String name, StoredTask.@Nullable Position after, int limit) {

}
