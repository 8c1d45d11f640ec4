package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.Map;

import org.springframework.util.Assert;

/**
 * The request for a forecast: how many pending tasks fall due in equal spans of the time
 * ahead.
 *
 * @param pending the names, at most {@link #MAX_NAMES}, and about how many pending tasks
 * each of them has
 * @param span the length of a span, at least a millisecond
 * @param spans the number of spans, at least 1
 * @since 0.1
 */
public record ForecastQuery(Map<String, Long> pending, Duration span, int spans) {

	/**
	 * The largest number of names. Databases limit the number of parameters of a
	 * statement.
	 */
	public static final int MAX_NAMES = 1000;

	/**
	 * Checks the number of names.
	 * @throws IllegalArgumentException if there are too many names
	 */
	public ForecastQuery {
		Assert.isTrue(pending.size() <= MAX_NAMES,
				() -> "A forecast may have at most %d names, not %d".formatted(MAX_NAMES, pending.size()));
	}

}
