package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
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
public record ForecastDescriptor(Instant from, Duration span, Map<String, DueDescriptor> tasks,
		boolean complete) implements OperationResponseBody {

	private static final int SPANS = 60;

	private static final int MAX_NAMES = 100;

	static ForecastDescriptor read(String period, DelayedTaskRegistry tasks, @Nullable StoredTasks stored) {
		Duration span = span(period);
		Instant from = tasks.clock().now();
		List<Map.Entry<String, DueDescriptor>> names = new ArrayList<>();
		tasks.memoryTasks()
			.forecast(from, span, SPANS)
			.forEach((one) -> names.add(Map.entry(one.name(), new DueDescriptor(one.counts(), false))));
		boolean complete = true;
		if (stored != null) {
			Map<String, StoredTasks.Due> forecast = stored.counts().forecast(span, SPANS, MAX_NAMES);
			complete = forecast.size() < MAX_NAMES;
			forecast
				.forEach((name, due) -> names.add(Map.entry(name, new DueDescriptor(due.counts(), due.estimated()))));
		}
		names.removeIf((name) -> name.getValue().counts().size() == SPANS && name.getValue().total() == 0);
		names.sort(Comparator.comparing((name) -> -name.getValue().total()));
		Map<String, DueDescriptor> shown = new LinkedHashMap<>();
		PageSize size = PageSize.ofForecast(SPANS);
		for (Map.Entry<String, DueDescriptor> name : names) {
			if (shown.size() == MAX_NAMES || !size.hasRoomFor(name.getKey())) {
				complete = false;
				break;
			}
			shown.put(name.getKey(), name.getValue());
		}
		return new ForecastDescriptor(from, span, shown, complete);
	}

	private static Duration span(String period) {
		try {
			Duration span = Duration.ofMillis(DurationStyle.detectAndParse(period).toMillis() / SPANS);
			if (!span.isNegative() && !span.isZero() && span.compareTo(Duration.ofDays(365)) < 0) {
				return span;
			}
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			// The message below names the remedy
		}
		throw TaskView.invalid(
				"The forecast must be a duration from 60 ms to 60 years, such as \"PT1H\", not \"" + period + "\"");
	}

	/**
	 * The counts of a name.
	 *
	 * @param counts how many tasks fall due in each span. If there are fewer counts than
	 * 60, counting the rest would have taken too long
	 * @param estimated whether the counts were estimated from a sample
	 * @since 0.1
	 */
	public record DueDescriptor(List<Long> counts, boolean estimated) {

		long total() {
			return this.counts.stream().mapToLong(Long::longValue).sum();
		}

	}

}
