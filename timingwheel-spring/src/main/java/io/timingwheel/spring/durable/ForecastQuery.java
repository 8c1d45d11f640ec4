package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.Map;

/**
 * The request for a forecast: how many pending tasks fall due in equal spans of the time
 * ahead.
 *
 * @param pending the names, and about how many pending tasks each of them has
 * @param span the length of a span, at least a millisecond
 * @param spans the number of spans, at least 1
 * @since 0.1
 */
public record ForecastQuery(Map<String, Long> pending, Duration span, int spans) {

}
