package io.timingwheel.spring.task.memory;

import java.util.List;

/**
 * How many pending tasks of a name fall due in equal spans of the time ahead. Immutable.
 *
 * @param name the name
 * @param counts the counts of the spans
 */
public record PendingForecast(String name, List<Long> counts) {

}
