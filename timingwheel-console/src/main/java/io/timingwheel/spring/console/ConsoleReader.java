package io.timingwheel.spring.console;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.MeterRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.RefusedRequest;
import io.timingwheel.spring.actuate.internal.SharedReading;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.ForecastDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.actuate.internal.TaskView;
import io.timingwheel.spring.aop.internal.TaskMethodRegistry;
import io.timingwheel.spring.console.LiveFigures.LatenessFigures;
import io.timingwheel.spring.console.LiveFigures.NameFigures;
import io.timingwheel.spring.console.LiveFigures.NameTasks;
import io.timingwheel.spring.console.LiveFigures.Names;
import io.timingwheel.spring.console.LiveFigures.NodeFigures;
import io.timingwheel.spring.console.LiveFigures.WheelFigures;
import io.timingwheel.spring.task.internal.PolicySettings;
import org.jspecify.annotations.Nullable;

/** Reads what the page shows. Thread-safe. */
final class ConsoleReader {

	/** How many names one response contains at most. */
	private static final int NAMES = 100;

	/** How many names the first view shows. */
	private static final int FIRST_NAMES = 8;

	/** How many names of a forecast are shown. */
	private static final int FORECAST_NAMES = 12;

	/** How many recurring methods are shown. */
	private static final int MAX_METHODS = 100;

	/** Of how many names the tasks are searched for schedules. */
	private static final int SCHEDULED_NAMES = 10;

	/** How many tasks of such a name are looked at. */
	private static final int SCHEDULED_TASKS = 20;

	/** A name with more tasks in memory is not searched: this would take too long. */
	private static final int MAX_SEARCHED = 1000;

	/** How many dead tasks of a name are shown one by one. */
	private static final int DEAD = 10;

	private static final String DEFAULT_RANGE = "PT1H";

	/** How long figures of the names are shown. */
	private static final Duration KEPT = Duration.ofMillis(400);

	/** Counting may take long, and a forecast changes slowly. */
	private static final Duration FORECAST_KEPT = Duration.ofSeconds(5);

	private final TimingWheel wheel;

	private final TaskView view;

	private final TaskMethodRegistry methods;

	private final @Nullable MeterRegistry meters;

	private final SharedReading<Known> known = new SharedReading<>(this::readKnown, KEPT);

	private final Map<String, SharedReading<ForecastDescriptor>> forecasts = new HashMap<>();

	ConsoleReader(TimingWheel wheel, TaskView view, TaskMethodRegistry methods, @Nullable MeterRegistry meters) {
		this.wheel = wheel;
		this.view = view;
		this.methods = methods;
		this.meters = meters;
		for (String range : List.of("PT1M", "PT10M", DEFAULT_RANGE, "P1D", "P7D")) {
			this.forecasts.put(range, new SharedReading<>(() -> view.forecast(range, FORECAST_NAMES),
					range.equals("PT1M") ? KEPT : FORECAST_KEPT));
		}
	}

	LiveFigures read(LiveQuery query, boolean showErrors, @Nullable String application, boolean acts) {
		Known known = this.known.get();
		List<NameFigures> all = known.names();
		String name = query.name();
		return new LiveFigures(System.currentTimeMillis(), application, acts,
				WheelFigures.of(this.wheel, this.view.memory()),
				TotalsDescriptor.of(all.stream().map(NameFigures::counts).toList()), names(all, query),
				query.isFor("now") ? forecast(query) : null,
				(name != null && query.isFor("name")) ? tasks(name, showErrors) : null,
				(name != null && !query.isFor("task"))
						? unlessRefused(() -> this.view.deadByError(name, query.cursor(), showErrors)) : null,
				(name != null) ? find(name, query.find(), showErrors) : null,
				query.isFor("schedules") ? schedules(query, showErrors) : null,
				query.isFor("schedules") ? keyedSchedules(all, query, showErrors) : null,
				(this.meters != null) ? LatenessFigures.of(this.meters) : null,
				(this.view.stored() != null) ? NodeFigures.of(this.view.stored(), showErrors) : null,
				query.isFor("node") ? known.nodes() : null);
	}

	private Known readKnown() {
		List<NameFigures> names = new ArrayList<>();
		this.view.counts(null).forEach((name, counts) -> names.add(new NameFigures(name, counts)));
		return new Known(names, this.view.nodes());
	}

	void forget() {
		this.known.forget();
	}

	private static @Nullable Names names(List<NameFigures> all, LiveQuery query) {
		return switch (Objects.requireNonNullElse(query.view(), "")) {
			case "now" -> Names.of(all, (name) -> true, order("attention"), 0, FIRST_NAMES);
			case "dead" -> Names.of(all, (name) -> name.counts().dead() > 0, order("dead"), query.first(), NAMES);
			case "names" -> Names.of(all, (name) -> query.matches(name.name()),
					order(Objects.requireNonNullElse(query.sort(), "attention")), query.first(), NAMES);
			default -> null;
		};
	}

	/** The names are in their own order, which equal ones keep. */
	private static Comparator<NameFigures> order(String sort) {
		return switch (sort) {
			case "pending" -> most(CountsDescriptor::pending);
			case "running" -> most(CountsDescriptor::running);
			case "failed" -> most(CountsDescriptor::failed);
			case "dead" -> most(CountsDescriptor::dead);
			case "attention" -> most(CountsDescriptor::dead).thenComparing(most(CountsDescriptor::overdue))
				.thenComparing(most(CountsDescriptor::pending));
			default -> Comparator.comparing(NameFigures::name);
		};
	}

	private static Comparator<NameFigures> most(ToLongFunction<CountsDescriptor> figure) {
		return Comparator.comparingLong((name) -> -figure.applyAsLong(name.counts()));
	}

	private @Nullable ForecastDescriptor forecast(LiveQuery query) {
		SharedReading<ForecastDescriptor> forecast = this.forecasts
			.get(Objects.requireNonNullElse(query.range(), DEFAULT_RANGE));
		return (forecast != null) ? forecast.get() : null;
	}

	private @Nullable NameTasks tasks(String name, boolean showErrors) {
		NameDescriptor tasks = unlessRefused(() -> this.view.name(name, TaskView.LIMIT, null, showErrors));
		if (tasks == null) {
			return null;
		}
		List<TaskDescriptor> dead = tasks.dead();
		return new NameTasks(tasks.counts(), limits(this.view.memory().policies().of(name)), tasks.next(),
				(dead != null) ? dead.stream().limit(DEAD).toList() : null);
	}

	private static Map<String, @Nullable Object> limits(PolicySettings policy) {
		Map<String, @Nullable Object> limits = new LinkedHashMap<>();
		limits.put("Attempts", policy.maxAttempts());
		limits.put("At once", policy.maxConcurrent());
		limits.put("At once per key", policy.maxConcurrentPerKey());
		limits.put("Rate", Objects.toString(policy.rate(), null));
		return limits;
	}

	private @Nullable TaskDescriptor find(String name, @Nullable String keyOrId, boolean showErrors) {
		return (keyOrId != null && !keyOrId.isEmpty()) ? unlessRefused(() -> this.view.get(name, keyOrId, showErrors))
				: null;
	}

	/** A task may be gone since the page has shown it. */
	private static <T> @Nullable T unlessRefused(Supplier<T> reading) {
		try {
			return reading.get();
		}
		catch (RefusedRequest ex) {
			return null;
		}
	}

	private List<TaskDescriptor> schedules(LiveQuery query, boolean showErrors) {
		return this.methods.recurringNames()
			.stream()
			.filter(query::matches)
			.limit(MAX_METHODS)
			.map((name) -> find(name, TaskMethodRegistry.RECURRING_KEY, showErrors))
			.filter(Objects::nonNull)
			.toList();
	}

	/**
	 * The schedules that code has stored by name and key. The names with the most tasks
	 * come first, and the others are found by the filter.
	 */
	private List<TaskDescriptor> keyedSchedules(List<NameFigures> all, LiveQuery query, boolean showErrors) {
		Set<String> methods = Set.copyOf(this.methods.recurringNames());
		return all.stream()
			.filter((name) -> name.counts().pending() > 0
					&& (name.counts().durable() || name.counts().pending() <= MAX_SEARCHED))
			.filter((name) -> !methods.contains(name.name()) && query.matches(name.name()))
			.sorted(order("pending"))
			.limit(SCHEDULED_NAMES)
			.flatMap((name) -> this.view.schedules(name.name(), SCHEDULED_TASKS, showErrors).stream())
			.toList();
	}

	private record Known(List<NameFigures> names, @Nullable List<StoreNode.Reported> nodes) {

	}

}
