package io.timingwheel.spring.task.memory;

import java.util.List;

/**
 * How many pending tasks of a name fall due in equal spans of the time ahead. Immutable.
 *
 * @param name the name
 * @param counts the counts of the spans
 * @param estimated whether the counts were estimated from a sample, since there are too
 * many tasks to look at
 */
public record PendingForecast(String name, List<Long> counts, boolean estimated) {

}
