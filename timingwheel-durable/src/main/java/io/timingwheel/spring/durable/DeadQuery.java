package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * The request for a page of the dead tasks of a name.
 *
 * @param name the name
 * @param latestFirst whether the page begins with the task that died last, rather than
 * with the task that died first
 * @param after the last task of the page before; {@code null} for the first page
 * @param limit the largest number of tasks, at least 1
 * @since 0.1
 */
public record DeadQuery(String name, boolean latestFirst, DeadTask.@Nullable Position after, int limit) {

}
