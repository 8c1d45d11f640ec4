package io.timingwheel.spring.console;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.ForecastDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.actuate.internal.SharedReading;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.internal.delayed.TaskMethodRegistry;
import io.timingwheel.spring.console.LiveFigures.LatenessFigures;
import io.timingwheel.spring.console.LiveFigures.NameFigures;
import io.timingwheel.spring.console.LiveFigures.NameTasks;
import io.timingwheel.spring.console.LiveFigures.Names;
import io.timingwheel.spring.console.LiveFigures.NodeFigures;
import io.timingwheel.spring.console.LiveFigures.WheelFigures;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
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

	private final DelayedTaskRegistry memory;

	private final DelayedTasksEndpoint tasks;

	private final @Nullable StoredTasks stored;

	private final TaskMethodRegistry methods;

	private final Supplier<@Nullable LatenessFigures> lateness;

	private final SharedReading<Known> known = new SharedReading<>(this::readKnown, KEPT);

	private final Map<String, SharedReading<ForecastDescriptor>> forecasts = new HashMap<>();

	ConsoleReader(TimingWheel wheel, DelayedTaskRegistry memory, DelayedTasksEndpoint tasks,
			@Nullable StoredTasks stored, TaskMethodRegistry methods, Supplier<@Nullable LatenessFigures> lateness) {
		this.wheel = wheel;
		this.memory = memory;
		this.tasks = tasks;
		this.stored = stored;
		this.methods = methods;
		this.lateness = lateness;
		this.forecasts.put("PT1M", new SharedReading<>(() -> readForecast("PT1M"), KEPT));
		for (String range : List.of("PT10M", DEFAULT_RANGE, "P1D", "P7D")) {
			this.forecasts.put(range, new SharedReading<>(() -> readForecast(range), FORECAST_KEPT));
		}
	}

	LiveFigures read(LiveQuery query, SecurityContext user, @Nullable String application, boolean acts) {
		Known known = this.known.get();
		List<NameFigures> all = known.names();
		String name = query.name();
		return new LiveFigures(System.currentTimeMillis(), application, acts, WheelFigures.of(this.wheel, this.memory),
				TotalsDescriptor.of(all.stream().map(NameFigures::counts).toList()), names(all, query),
				query.isFor("now") ? forecast(query) : null,
				(name != null && query.isFor("name")) ? tasks(name, user) : null,
				(name != null && !query.isFor("task")) ? dead(name, query.cursor(), user) : null,
				(name != null) ? find(name, query.find(), user) : null,
				query.isFor("schedules") ? schedules(query, user) : null,
				query.isFor("schedules") ? keyedSchedules(all, query, user) : null, this.lateness.get(),
				(this.stored != null) ? NodeFigures.of(this.stored) : null, query.isFor("node") ? known.nodes() : null);
	}

	private Known readKnown() {
		return new Known(this.tasks.counts()
			.entrySet()
			.stream()
			.map((name) -> new NameFigures(name.getKey(), name.getValue()))
			.toList(), this.tasks.nodes());
	}

	/**
	 * Reads the figures of the names and nodes anew the next time.
	 */
	void forget() {
		this.known.forget();
	}

	private static @Nullable Names names(List<NameFigures> all, LiveQuery query) {
		return switch (Objects.requireNonNullElse(query.view(), "")) {
			case "now" -> Names.of(all, (name) -> true, order("attention"), 0, FIRST_NAMES);
			case "dead" -> Names.of(all, (name) -> name.counts().dead() > 0, order("dead"), query.first(), NAMES);
			case "names" -> Names.of(all, query::matches, order(Objects.requireNonNullElse(query.sort(), "attention")),
					query.first(), NAMES);
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

	private ForecastDescriptor readForecast(String range) {
		return this.tasks.forecast(range, FORECAST_NAMES);
	}

	private @Nullable NameTasks tasks(String name, SecurityContext user) {
		if (!(this.tasks.tasksOfName(user, name, null, null, null).getBody() instanceof NameDescriptor tasks)) {
			return null;
		}
		List<TaskDescriptor> dead = tasks.dead();
		return new NameTasks(tasks.counts(), limits(this.memory.policies().of(name)), tasks.next(),
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

	private @Nullable DeadDescriptor dead(String name, @Nullable String cursor, SecurityContext user) {
		return (this.tasks.tasksOfName(user, name, "true", null, cursor).getBody() instanceof DeadDescriptor dead)
				? dead : null;
	}

	private @Nullable TaskDescriptor find(String name, @Nullable String keyOrId, SecurityContext user) {
		return (keyOrId != null && !keyOrId.isEmpty()
				&& this.tasks.task(user, new String[] { name, keyOrId }, null, null, null)
					.getBody() instanceof TaskDescriptor task) ? task : null;
	}

	private List<TaskDescriptor> schedules(LiveQuery query, SecurityContext user) {
		return this.methods.recurringNames()
			.stream()
			.filter(query::matches)
			.limit(MAX_METHODS)
			.map((name) -> find(name, TaskMethodRegistry.RECURRING_KEY, user))
			.filter(Objects::nonNull)
			.toList();
	}

	/**
	 * The schedules that code has stored by name and key. The names with the most tasks
	 * come first, and the others are found by the filter.
	 */
	private List<TaskDescriptor> keyedSchedules(List<NameFigures> all, LiveQuery query, SecurityContext user) {
		Set<String> methods = Set.copyOf(this.methods.recurringNames());
		return this.tasks.schedules(user,
				all.stream()
					.filter((name) -> name.counts().pending() > 0
							&& (name.counts().durable() || name.counts().pending() <= MAX_SEARCHED))
					.filter((name) -> !methods.contains(name.name()) && query.matches(name))
					.sorted(order("pending"))
					.limit(SCHEDULED_NAMES)
					.map(NameFigures::name)
					.toList(),
				SCHEDULED_TASKS);
	}

	/**
	 * What all pages show.
	 */
	private record Known(List<NameFigures> names, @Nullable List<StoreNode.Reported> nodes) {

	}

}
