package io.timingwheel.spring.console;

import java.util.List;
import java.util.Map;

import io.timingwheel.spring.actuate.DelayedTasksEndpointWebExtension;
import io.timingwheel.spring.actuate.ForecastDescriptor;
import io.timingwheel.spring.console.LiveFigures.ForecastFigures;
import io.timingwheel.spring.console.LiveFigures.NameForecast;
import org.jspecify.annotations.Nullable;

/**
 * The forecast for one range. All pages that look at the same time share the forecast,
 * since counting may take long. Thread-safe.
 */
final class Forecasts {

	/** How many names are shown. */
	private static final int NAMES = 12;

	private static final int SPANS = 60;

	private static final long MIN_KEPT_NANOS = 400_000_000;

	private static final long MAX_KEPT_NANOS = 5_000_000_000L;

	private final DelayedTasksEndpointWebExtension tasks;

	private final String range;

	private @Nullable ForecastFigures forecast;

	private long readAt;

	Forecasts(DelayedTasksEndpointWebExtension tasks, String range) {
		this.tasks = tasks;
		this.range = range;
	}

	synchronized @Nullable ForecastFigures read() {
		ForecastFigures known = this.forecast;
		if (known == null || System.nanoTime() - this.readAt > kept(known)) {
			this.forecast = (this.tasks.tasks(this.range, null).getBody() instanceof ForecastDescriptor descriptor)
					? figures(descriptor) : null;
			this.readAt = System.nanoTime();
		}
		return this.forecast;
	}

	/**
	 * A forecast is kept for half of a span.
	 */
	private static long kept(ForecastFigures forecast) {
		return Math.max(MIN_KEPT_NANOS, Math.min(MAX_KEPT_NANOS, (long) (forecast.span() * 500_000)));
	}

	private static ForecastFigures figures(ForecastDescriptor forecast) {
		List<NameForecast> names = forecast.tasks().entrySet().stream().limit(NAMES).map(Forecasts::figures).toList();
		return new ForecastFigures(forecast.from().toEpochMilli(), ConsoleReader.millis(forecast.span()), SPANS, names);
	}

	private static NameForecast figures(Map.Entry<String, ForecastDescriptor.DueDescriptor> name) {
		return new NameForecast(name.getKey(), name.getValue().counts(), name.getValue().estimated());
	}

}
