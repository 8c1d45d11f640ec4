package io.timingwheel.spring.console;

import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSlots;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.TaskDescriptors.CountsDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.NodeDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TotalsDescriptor;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.SharedReading;
import io.timingwheel.spring.console.LiveFigures.ForecastFigures;
import io.timingwheel.spring.console.LiveFigures.LevelFigures;
import io.timingwheel.spring.console.LiveFigures.NameFigures;
import io.timingwheel.spring.console.LiveFigures.Names;
import io.timingwheel.spring.console.LiveFigures.NodeFigures;
import io.timingwheel.spring.console.LiveFigures.OneNode;
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

	/** A level is shown with at most this many slots. */
	private static final int SLOTS = 256;

	private final TimingWheel wheel;

	private final DelayedTasksEndpoint tasks;

	private final @Nullable StoredTasks storedTasks;

	private final NameReader names;

	private final Lateness lateness;

	private final Page page;

	private final Clock clock = Clock.systemUTC();

	private final Map<String, SharedReading<Optional<ForecastFigures>>> forecasts = new HashMap<>();

	private final SharedReading<Known> known = new SharedReading<>(this::readKnown, (known) -> KEPT_NANOS);

	/**
	 * Creates a reader.
	 * @param wheel the wheel
	 * @param tasks reads the tasks
	 * @param storedTasks the stored tasks, {@code null} without a store
	 * @param names reads the tasks of names
	 * @param lateness tells how late tasks have begun
	 * @param page what does not change
	 */
	ConsoleReader(TimingWheel wheel, DelayedTasksEndpoint tasks, @Nullable StoredTasks storedTasks, NameReader names,
			Lateness lateness, Page page) {
		this.wheel = wheel;
		this.tasks = tasks;
		this.storedTasks = storedTasks;
		this.names = names;
		this.lateness = lateness;
		this.page = page;
		for (String range : List.of("PT1M", "PT10M", DEFAULT_RANGE, "P1D", "P7D")) {
			this.forecasts.put(range, Forecasts.of(tasks, range));
		}
	}

	LiveFigures read(LiveQuery query, SecurityContext user) {
		Known known = this.known.get();
		List<NameFigures> all = known.names();
		String name = query.name();
		return new LiveFigures(this.clock.millis(), this.page.application(), this.page.acts(), wheel(), total(all),
				names(all, query), query.isFor("now") ? forecast(query.range()) : null,
				(name != null && query.isFor("name")) ? this.names.read(name, user) : null,
				(name != null && !query.isFor("task")) ? this.names.dead(name, query.cursor(), user) : null,
				(name != null) ? this.names.find(name, query.find(), user) : null,
				query.isFor("schedules") ? this.names.schedules(query, user) : null,
				query.isFor("schedules") ? this.names.keyedSchedules(all, query, user) : null, this.lateness.read(),
				node(), query.isFor("node") ? known.nodes() : null);
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

	/**
	 * What all figures have in common.
	 *
	 * @param application the name of the application, {@code null} if it has none
	 * @param acts whether the page may act
	 */
	record Page(@Nullable String application, boolean acts) {

	}

}
