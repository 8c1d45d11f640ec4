package io.timingwheel.spring.console;

import java.time.Clock;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.ForecastDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.actuate.internal.SharedReading;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.console.LiveFigures.LatenessFigures;
import io.timingwheel.spring.console.LiveFigures.NameFigures;
import io.timingwheel.spring.console.LiveFigures.Names;
import io.timingwheel.spring.console.LiveFigures.NodeFigures;
import io.timingwheel.spring.console.LiveFigures.WheelFigures;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SecurityContext;

/**
 * Reads what the page shows. Thread-safe.
 */
final class ConsoleReader {

	/** How many names one response contains at most. */
	private static final int NAMES = 100;

	/** How many names the first view shows. */
	private static final int FIRST_NAMES = 8;

	/** The figures of the names are read again after this time, in nanoseconds. */
	private static final long KEPT_NANOS = 400_000_000;

	private static final String DEFAULT_RANGE = "PT1H";

	/** How many names of a forecast are shown. */
	private static final int FORECAST_NAMES = 12;

	private static final long MAX_KEPT_NANOS = 5_000_000_000L;

	private final Supplier<WheelFigures> wheel;

	private final DelayedTasksEndpoint tasks;

	private final @Nullable StoredTasks storedTasks;

	private final NameReader names;

	private final Supplier<@Nullable LatenessFigures> lateness;

	private final Page page;

	private final Clock clock = Clock.systemUTC();

	private final Map<String, SharedReading<Optional<ForecastDescriptor>>> forecasts = new HashMap<>();

	private final SharedReading<Known> known = new SharedReading<>(this::readKnown, (known) -> KEPT_NANOS);

	ConsoleReader(Supplier<WheelFigures> wheel, DelayedTasksEndpoint tasks, @Nullable StoredTasks storedTasks,
			NameReader names, Supplier<@Nullable LatenessFigures> lateness, Page page) {
		this.wheel = wheel;
		this.tasks = tasks;
		this.storedTasks = storedTasks;
		this.names = names;
		this.lateness = lateness;
		this.page = page;
		for (String range : List.of("PT1M", "PT10M", DEFAULT_RANGE, "P1D", "P7D")) {
			this.forecasts.put(range, new SharedReading<>(() -> readForecast(range), ConsoleReader::keptNanos));
		}
	}

	LiveFigures read(LiveQuery query, SecurityContext user) {
		Known known = this.known.get();
		List<NameFigures> all = known.names();
		String name = query.name();
		return new LiveFigures(this.clock.millis(), this.page.application(), this.page.acts(), this.wheel.get(),
				total(all), names(all, query), query.isFor("now") ? forecast(query.range()) : null,
				(name != null && query.isFor("name")) ? this.names.read(name, user) : null,
				(name != null && !query.isFor("task")) ? this.names.dead(name, query.cursor(), user) : null,
				(name != null) ? this.names.find(name, query.find(), user) : null,
				query.isFor("schedules") ? this.names.schedules(query, user) : null,
				query.isFor("schedules") ? this.names.keyedSchedules(all, query, user) : null, this.lateness.get(),
				(this.storedTasks != null) ? NodeFigures.of(this.storedTasks) : null,
				query.isFor("node") ? known.nodes() : null);
	}

	private Known readKnown() {
		return new Known(this.tasks.counts()
			.entrySet()
			.stream()
			.map((name) -> new NameFigures(name.getKey(), name.getValue()))
			.toList(), this.tasks.nodes());
	}

	private @Nullable ForecastDescriptor forecast(@Nullable String range) {
		SharedReading<Optional<ForecastDescriptor>> forecast = this.forecasts
			.get((range != null) ? range : DEFAULT_RANGE);
		return (forecast != null) ? forecast.get().orElse(null) : null;
	}

	private Optional<ForecastDescriptor> readForecast(String range) {
		if (!(this.tasks.tasks(range, null, null).getBody() instanceof ForecastDescriptor forecast)) {
			return Optional.empty();
		}
		Map<String, StoredTasks.Due> shown = new LinkedHashMap<>();
		forecast.tasks()
			.entrySet()
			.stream()
			.limit(FORECAST_NAMES)
			.forEach((name) -> shown.put(name.getKey(), name.getValue()));
		return Optional.of(new ForecastDescriptor(forecast.from(), forecast.span(), shown, forecast.complete()));
	}

	/**
	 * A forecast is kept for half of a span, since counting may take long.
	 */
	private static long keptNanos(Optional<ForecastDescriptor> forecast) {
		long half = forecast.map((known) -> known.span().toNanos() / 2).orElse(0L);
		return Math.max(KEPT_NANOS, Math.min(MAX_KEPT_NANOS, half));
	}

	boolean acts() {
		return this.page.acts();
	}

	/**
	 * Reads the figures of the names and nodes anew the next time.
	 */
	void forget() {
		this.known.forget();
	}

	private static TotalsDescriptor total(List<NameFigures> names) {
		return TotalsDescriptor.of(names.stream().map(NameFigures::counts).toList());
	}

	private static @Nullable Names names(List<NameFigures> all, LiveQuery query) {
		return switch (Objects.requireNonNullElse(query.view(), "")) {
			case "now" -> Names.of(all, (name) -> true, order("attention"), 0, FIRST_NAMES);
			case "dead" -> Names.of(all, (name) -> name.counts().dead() > 0, order("dead"), query.from(), NAMES);
			case "names" -> Names.of(all, (name) -> query.matches(name.name()),
					order(Objects.requireNonNullElse(query.sort(), "attention")), query.from(), NAMES);
			default -> null;
		};
	}

	static Comparator<NameFigures> order(String sort) {
		Comparator<NameFigures> byName = Comparator.comparing(NameFigures::name);
		return switch (sort) {
			case "pending" -> most(CountsDescriptor::pending).thenComparing(byName);
			case "running" -> most(CountsDescriptor::running).thenComparing(byName);
			case "failed" -> most(CountsDescriptor::failed).thenComparing(byName);
			case "dead" -> most(CountsDescriptor::dead).thenComparing(byName);
			case "attention" -> most(CountsDescriptor::dead).thenComparing(most(CountsDescriptor::overdue))
				.thenComparing(most(CountsDescriptor::pending))
				.thenComparing(byName);
			default -> byName;
		};
	}

	private static Comparator<NameFigures> most(ToLongFunction<CountsDescriptor> figure) {
		return Comparator.<NameFigures>comparingLong((name) -> figure.applyAsLong(name.counts())).reversed();
	}

	/**
	 * What all pages show.
	 */
	private record Known(List<NameFigures> names, @Nullable List<StoreNode.Reported> nodes) {

	}

	/**
	 * What all figures have in common.
	 */
	record Page(@Nullable String application, boolean acts) {

	}

}
