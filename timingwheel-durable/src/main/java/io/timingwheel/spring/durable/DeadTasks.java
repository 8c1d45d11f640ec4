package io.timingwheel.spring.durable;

import java.util.List;

/**
 * A page of the dead tasks of a name.
 *
 * @param tasks the tasks, in the order of the query; none if there are no more
 * @param more whether there may be more tasks after them
 * @since 0.1
 */
public record DeadTasks(List<DeadTask> tasks, boolean more) {

}
