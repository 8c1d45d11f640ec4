package io.timingwheel.spring.console;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.ForecastDescriptor;
import io.timingwheel.spring.actuate.internal.SharedReading;
import io.timingwheel.spring.console.LiveFigures.ForecastFigures;
import io.timingwheel.spring.console.LiveFigures.NameForecast;

/**
 * Reads the forecast for one range.
 */
final class Forecasts {

	/** How many names are shown. */
	private static final int NAMES = 12;

	private static final int SPANS = 60;

	private static final long MIN_KEPT_NANOS = 400_000_000;

	private static final long MAX_KEPT_NANOS = 5_000_000_000L;

	private Forecasts() {
	}

	/**
	 * The forecast, which is kept for half of a span, since counting may take long.
	 */
	static SharedReading<Optional<ForecastFigures>> of(DelayedTasksEndpoint tasks, String range) {
		return new SharedReading<>(() -> read(tasks, range), (forecast) -> Math.max(MIN_KEPT_NANOS, Math
			.min(MAX_KEPT_NANOS, forecast.map((known) -> (long) (known.span() * 500_000)).orElse(MIN_KEPT_NANOS))));
	}

	private static Optional<ForecastFigures> read(DelayedTasksEndpoint tasks, String range) {
		return (tasks.tasks(range, null, null).getBody() instanceof ForecastDescriptor forecast)
				? Optional.of(figures(forecast)) : Optional.empty();
	}

	private static ForecastFigures figures(ForecastDescriptor forecast) {
		List<NameForecast> names = forecast.tasks().entrySet().stream().limit(NAMES).map(Forecasts::figures).toList();
		return new ForecastFigures(forecast.from().toEpochMilli(), ConsoleReader.millis(forecast.span()), SPANS, names);
	}

	private static NameForecast figures(Map.Entry<String, ForecastDescriptor.DueDescriptor> name) {
		return new NameForecast(name.getKey(), name.getValue().counts(), name.getValue().estimated());
	}

}
