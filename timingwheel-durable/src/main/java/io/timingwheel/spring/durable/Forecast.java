package io.timingwheel.spring.durable;

import java.util.List;
import java.util.Map;

/**
 * How many pending tasks fall due in equal spans of the time ahead.
 *
 * @param from when the first span begins, by the clock of the store, in milliseconds
 * since the epoch
 * @param names the counts of the names that were asked for
 * @since 0.1
 */
public record Forecast(long from, Map<String, DueCounts> names) {

	/**
	 * The counts of one name.
	 *
	 * @param counts the counts of the spans from the first one on. There are fewer counts
	 * than spans if it would take too long to count the rest
	 * @param estimated whether the counts were estimated from a sample, since it would
	 * take too long to count all tasks
	 * @since 0.1
	 */
	public record DueCounts(List<Long> counts, boolean estimated) {

	}

}
