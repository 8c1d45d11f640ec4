package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.convert.DurationStyle;

/**
 * How many tasks fall due in each of 60 equal spans of the time ahead, by name.
 *
 * @param from when the first span begins
 * @param span the length of a span
 * @param tasks the counts by name, of the names with the most tasks in this time; names
 * without one are left out
 * @param complete whether these are all names with a task in this time
 * @since 0.1
 */
public record ForecastDescriptor(Instant from, Duration span, Map<String, StoredTasks.Due> tasks,
		boolean complete) implements OperationResponseBody {

	private static final int SPANS = 60;

	static final int MAX_NAMES = 100;

	static ForecastDescriptor read(String period, int limit, DelayedTaskRegistry tasks, @Nullable StoredTasks stored) {
		Duration span = RefusedRequest.read(period,
				(text) -> Duration.ofMillis(DurationStyle.detectAndParse(text).toMillis() / SPANS),
				(length) -> !length.isNegative() && !length.isZero() && length.compareTo(Duration.ofDays(365)) < 0,
				"The forecast must be a duration from 60 ms to 60 years, such as \"PT1H\", not \"" + period + "\"");
		Instant from = tasks.clock().now();
		List<Map.Entry<String, StoredTasks.Due>> names = new ArrayList<>();
		tasks.memoryTasks()
			.forecast(from, span, SPANS)
			.forEach((name, counts) -> names.add(Map.entry(name, new StoredTasks.Due(counts, false))));
		boolean complete = true;
		if (stored != null) {
			Map<String, StoredTasks.Due> forecast = stored.counts().forecast(span, SPANS, MAX_NAMES);
			complete = forecast.size() < MAX_NAMES;
			names.addAll(forecast.entrySet());
		}
		names.removeIf((name) -> name.getValue().counts().size() == SPANS && total(name) == 0);
		names.sort(Comparator.comparing((name) -> -total(name)));
		Map<String, StoredTasks.Due> shown = PageSize.ofForecast(SPANS).firstOf(names, limit);
		return new ForecastDescriptor(from, span, shown, complete && shown.size() == names.size());
	}

	private static long total(Map.Entry<String, StoredTasks.Due> name) {
		return name.getValue().counts().stream().mapToLong(Long::longValue).sum();
	}

}
