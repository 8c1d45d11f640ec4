package io.timingwheel.spring.durable.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How many pending tasks fall due in equal spans of the time ahead.
 *
 * @param from when the first span begins, in milliseconds since the epoch by the store's
 * clock
 * @since 0.1
 */
public record Forecast(long from, Map<String, DueCounts> names) {

	/**
	 * The counts of one name.
	 *
	 * @param counts of the spans from the first one on; fewer than spans if it would take
	 * too long to count the rest
	 * @param estimated whether they were estimated from a sample
	 */
	public record DueCounts(List<Long> counts, boolean estimated) {

	}

	/**
	 * The request for a forecast.
	 *
	 * @param pending the names, at most {@link #MAX_NAMES}, and about how many pending
	 * tasks each has
	 * @param span the length of a span, at least a millisecond
	 * @param spans at least 1
	 */
	public record Query(Map<String, Long> pending, Duration span, int spans) {

		/** Databases limit the number of parameters of a statement. */
		public static final int MAX_NAMES = 1000;

	}

}
