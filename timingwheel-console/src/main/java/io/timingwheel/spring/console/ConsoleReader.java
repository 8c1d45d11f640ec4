package io.timingwheel.spring.console;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSlots;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.CountsDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.DeadDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.NameDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.NodeDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TotalsDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpointWebExtension;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.aop.delayed.RecurringMethodRegistry;
import io.timingwheel.spring.console.LiveFigures.ForecastFigures;
import io.timingwheel.spring.console.LiveFigures.LevelFigures;
import io.timingwheel.spring.console.LiveFigures.NameFigures;
import io.timingwheel.spring.console.LiveFigures.NameTasks;
import io.timingwheel.spring.console.LiveFigures.Names;
import io.timingwheel.spring.console.LiveFigures.NodeFigures;
import io.timingwheel.spring.console.LiveFigures.OneNode;
import io.timingwheel.spring.console.LiveFigures.WheelFigures;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskPolicies;
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

	/** Of how many names the tasks are searched for schedules. */
	private static final int SCHEDULED_NAMES = 10;

	/** How many tasks of such a name are looked at. */
	private static final int SCHEDULED_TASKS = 20;

	/** A name with more tasks in memory is not searched: this would take too long. */
	private static final int MAX_SEARCHED = 1000;

	/** How many dead tasks of a name are shown one by one. */
	private static final int DEAD = 10;

	private static final String DEFAULT_RANGE = "PT1H";

	/** A level is shown with at most this many slots. */
	private static final int SLOTS = 256;

	private final TimingWheel wheel;

	private final DelayedTasksEndpointWebExtension tasks;

	private final @Nullable StoredTasks storedTasks;

	private final TaskPolicies policies;

	private final Supplier<List<String>> recurring;

	private final Lateness lateness;

	private final @Nullable String application;

	private final boolean acts;

	private final Clock clock = Clock.systemUTC();

	private final Map<String, SharedReading<Optional<ForecastFigures>>> forecasts = new HashMap<>();

	private final SharedReading<Known> known = new SharedReading<>(this::readKnown, (known) -> KEPT_NANOS);

	/**
	 * Creates a reader.
	 * @param wheel the wheel
	 * @param tasks reads the tasks
	 * @param storedTasks the stored tasks, {@code null} without a store
	 * @param policies the retries and limits of the names
	 * @param recurring gives the names of the recurring methods
	 * @param lateness tells how late tasks have begun
	 * @param application the name of the application, {@code null} if it has none
	 * @param acts whether the page may act
	 */
	ConsoleReader(TimingWheel wheel, DelayedTasksEndpointWebExtension tasks, @Nullable StoredTasks storedTasks,
			TaskPolicies policies, Supplier<List<String>> recurring, Lateness lateness, @Nullable String application,
			boolean acts) {
		this.wheel = wheel;
		this.tasks = tasks;
		this.storedTasks = storedTasks;
		this.policies = policies;
		this.recurring = recurring;
		this.lateness = lateness;
		this.application = application;
		this.acts = acts;
		for (String range : List.of("PT1M", "PT10M", DEFAULT_RANGE, "P1D", "P7D")) {
			this.forecasts.put(range, Forecasts.of(tasks, range));
		}
	}

	LiveFigures read(LiveQuery query, SecurityContext user) {
		Known known = this.known.get();
		List<NameFigures> all = known.names();
		String name = query.name();
		return new LiveFigures(this.clock.millis(), this.application, this.acts, wheel(), total(all), names(all, query),
				query.isFor("now") ? forecast(query.range()) : null,
				(name != null && query.isFor("name")) ? name(name, user) : null,
				(name != null && !query.isFor("task")) ? dead(name, query.cursor(), user) : null,
				(name != null) ? find(name, query.find(), user) : null,
				query.isFor("schedules") ? schedules(query, user) : null,
				query.isFor("schedules") ? keyedSchedules(all, query, user) : null, this.lateness.read(), node(),
				query.isFor("node") ? known.nodes() : null);
	}

	private Known readKnown() {
		List<NodeDescriptor> nodes = this.tasks.nodes();
		return new Known(this.tasks.counts()
			.entrySet()
			.stream()
			.map((name) -> new NameFigures(name.getKey(), name.getValue()))
			.toList(), (nodes != null) ? nodes.stream().map(this::node).toList() : null);
	}

	/**
	 * A node that has missed three reports has probably ended. How often the other nodes
	 * report is not known. They are assumed to have the settings of this node.
	 */
	private OneNode node(NodeDescriptor node) {
		boolean silent = this.storedTasks != null
				&& node.age().compareTo(this.storedTasks.node().reportInterval().multipliedBy(3)) > 0;
		return new OneNode(node.id(), node.thisNode(), node.claiming(), node.inFlight(), millis(node.age()), silent);
	}

	private @Nullable ForecastFigures forecast(@Nullable String range) {
		SharedReading<Optional<ForecastFigures>> forecast = this.forecasts.get((range != null) ? range : DEFAULT_RANGE);
		return (forecast != null) ? forecast.get().orElse(null) : null;
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
		if (query.isFor("now")) {
			return Names.of(all, all, order("attention"), 0, FIRST_NAMES);
		}
		if (query.isFor("dead")) {
			List<NameFigures> dead = all.stream().filter((name) -> name.counts().dead() > 0).toList();
			return Names.of(all, dead, order("dead"), query.from(), NAMES);
		}
		if (!query.isFor("names")) {
			return null;
		}
		List<NameFigures> matching = all.stream().filter((name) -> query.matches(name.name())).toList();
		return Names.of(all, matching, order((query.sort() != null) ? query.sort() : "attention"), query.from(), NAMES);
	}

	private static Comparator<NameFigures> order(String sort) {
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

	private @Nullable NameTasks name(String name, SecurityContext user) {
		return (this.tasks.tasksOfName(user, name, null, null, null).getBody() instanceof NameDescriptor tasks)
				? new NameTasks(tasks.counts(), limits(this.policies.of(name)), tasks.next(), latest(tasks.dead()))
				: null;
	}

	private static @Nullable List<TaskDescriptor> latest(@Nullable List<TaskDescriptor> dead) {
		return (dead != null) ? dead.subList(0, Math.min(DEAD, dead.size())) : null;
	}

	private static Map<String, String> limits(PolicySettings policy) {
		Map<String, String> limits = new LinkedHashMap<>();
		add(limits, "Attempts", policy.maxAttempts());
		add(limits, "At once", policy.maxConcurrent());
		add(limits, "At once per key", policy.maxConcurrentPerKey());
		add(limits, "Rate", policy.rate());
		return limits;
	}

	private static void add(Map<String, String> limits, String label, @Nullable Object value) {
		if (value != null) {
			limits.put(label, value.toString());
		}
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
		List<TaskDescriptor> tasks = new ArrayList<>();
		this.recurring.get().stream().filter(query::matches).limit(NAMES).forEach((name) -> {
			TaskDescriptor task = find(name, RecurringMethodRegistry.KEY, user);
			if (task != null) {
				tasks.add(task);
			}
		});
		return tasks;
	}

	/**
	 * The schedules that code has stored by name and key. The names with the most tasks
	 * come first, and the others are found by the filter.
	 */
	private List<TaskDescriptor> keyedSchedules(List<NameFigures> all, LiveQuery query, SecurityContext user) {
		Set<String> methods = Set.copyOf(this.recurring.get());
		List<String> names = all.stream()
			.filter((name) -> name.counts().pending() > 0
					&& (name.counts().durable() || name.counts().pending() <= MAX_SEARCHED))
			.filter((name) -> !methods.contains(name.name()) && query.matches(name.name()))
			.sorted(order("pending"))
			.limit(SCHEDULED_NAMES)
			.map(NameFigures::name)
			.toList();
		return this.tasks.schedules(user, names, SCHEDULED_TASKS);
	}

	private WheelFigures wheel() {
		WheelSnapshot wheel = this.wheel.snapshot();
		WheelSlots slots = WheelSlots.of(this.wheel);
		Duration next = wheel.nextExpiry();
		List<LevelFigures> levels = wheel.levels()
			.stream()
			.map((level) -> new LevelFigures(millis(level.tick()), level.pending(), level.occupiedSlots(),
					(level.level() < slots.levels().size()) ? shown(slots.levels().get(level.level()), wheel.shards())
							: ""))
			.toList();
		return new WheelFigures(wheel.state() == WheelSnapshot.State.RUNNING, wheel.wheelSize(), wheel.shards(),
				wheel.pending(), wheel.scheduled(), wheel.rescheduled(), wheel.fired(), wheel.cancelled(),
				wheel.refused(), wheel.rejected(), wheel.wakeUps(), millis(wheel.lag()), millis(wheel.maxLag()),
				(next != null) ? millis(next) : null, millis(wheel.tick()), slots.tick(), levels);
	}

	/**
	 * A digit for each slot, or for several slots together if there are too many.
	 */
	private static String shown(List<Integer> slots, int shards) {
		int width = Math.max(1, slots.size() / SLOTS);
		StringBuilder digits = new StringBuilder();
		for (int from = 0; from < slots.size(); from += width) {
			int most = IntStream.range(from, from + width).map(slots::get).max().orElse(0);
			digits.append(Math.min(9, (9 * most + shards - 1) / shards));
		}
		return digits.toString();
	}

	static double millis(Duration duration) {
		try {
			return duration.toNanos() / 1e6;
		}
		catch (ArithmeticException ex) {
			return Long.MAX_VALUE / 1e6;
		}
	}

	private @Nullable NodeFigures node() {
		StoredTasks tasks = this.storedTasks;
		if (tasks == null) {
			return null;
		}
		StoreNode node = tasks.node();
		StoreNode.Figures figures = node.figures();
		StoreNode.Outage outage = node.outage();
		return new NodeFigures(node.isClaiming(), node.inFlight(), figures.claims(), figures.claimed(),
				figures.retried(), figures.released(), figures.lostLeases(), tasks.counts().unknown(),
				(outage != null) ? outage.error().toString() : null);
	}

	/**
	 * What all pages show.
	 *
	 * @param names all names
	 * @param nodes the nodes of the store, {@code null} without a store
	 */
	private record Known(List<NameFigures> names, @Nullable List<OneNode> nodes) {

	}

}
