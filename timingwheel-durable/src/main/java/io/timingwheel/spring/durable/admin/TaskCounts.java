package io.timingwheel.spring.durable.admin;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.actuate.internal.SharedReading;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.Due;
import io.timingwheel.spring.actuate.internal.StoredTasks.StoredTaskCounts;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.StoredCounts;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Counts the stored tasks of all nodes, and adds up the names of each method. Counting
 * takes a while, so meters get counts that are a few seconds old. Thread-safe.
 */
public final class TaskCounts implements StoredTasks.Counts {

	public static final Duration RECENT = Duration.ofSeconds(5);

	private static final Log logger = LogFactory.getLog(TaskCounts.class);

	private final DelayedTaskStore store;

	private final DurableHandlers handlers;

	private final DurableNode node;

	private final SharedReading<Map<String, StoredCounts>> latest;

	/** The counts of the latest answer of the store. */
	private volatile Map<String, StoredCounts> known = Map.of();

	public TaskCounts(DelayedTaskStore store, DurableHandlers handlers, DurableNode node, Duration recent) {
		this.store = store;
		this.handlers = handlers;
		this.node = node;
		this.latest = new SharedReading<>(this::read, recent);
	}

	@Override
	public Map<String, StoredTaskCounts> all() {
		return isStoreDown() ? recent() : byMethod(this.store.counts(List.of()));
	}

	@Override
	public @Nullable StoredTaskCounts of(String name) {
		return (isStoreDown() ? recent() : byMethod(this.store.counts(this.handlers.allNames(name)))).get(name);
	}

	@Override
	public Map<String, StoredTaskCounts> recent() {
		return byMethod(this.latest.get());
	}

	private boolean isStoreDown() {
		return this.node.outage() != null;
	}

	private Map<String, StoredCounts> read() {
		try {
			this.known = isStoreDown() ? this.known : this.store.counts(List.of());
		}
		catch (RuntimeException ex) {
			logger.debug("The stored tasks could not be counted", ex);
		}
		return this.known;
	}

	/** By method, and by each other name that has a task. */
	private Map<String, StoredTaskCounts> byMethod(Map<String, StoredCounts> counts) {
		Map<String, StoredCounts> sums = new HashMap<>();
		this.handlers.names().forEach((name) -> sums.put(this.handlers.canonicalName(name), StoredCounts.NONE));
		counts.forEach((name, count) -> sums.merge(this.handlers.canonicalName(name), count, StoredCounts::plus));
		Map<String, StoredTaskCounts> neutral = new TreeMap<>();
		sums.forEach((name, sum) -> neutral.put(name, new StoredTaskCounts(sum.pending(), sum.overdue(), sum.running(),
				sum.dead(), sum.estimated(), this.node.mayHoldBack(name) ? sum.overdue() : 0)));
		return neutral;
	}

	@Override
	public long unknown() {
		Map<String, StoredTaskCounts> counts = recent();
		counts.keySet().removeAll(this.handlers.names());
		return counts.values().stream().mapToLong(StoredTaskCounts::pending).sum();
	}

	/** The names are at most a few seconds old. */
	@Override
	public Map<String, Due> forecast(Duration span, int spans, int maxNames) {
		Map<String, Long> names = new HashMap<>();
		this.latest.get().forEach((name, counts) -> names.put(name, counts.pending()));
		// The latest counts may be from before the first tasks of these names.
		this.handlers.names().forEach((name) -> names.putIfAbsent(name, 0L));
		Map<String, Long> pending = names.entrySet()
			.stream()
			.sorted(Map.Entry.<String, Long>comparingByValue().reversed())
			.limit(maxNames)
			.collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
		Map<String, Due> forecast = new TreeMap<>();
		this.store.forecast(new Forecast.Query(pending, span, spans))
			.names()
			.forEach((name, due) -> forecast.merge(this.handlers.canonicalName(name),
					new Due(due.counts(), due.estimated()), TaskCounts::plus));
		return forecast;
	}

	private static Due plus(Due one, Due other) {
		int size = Math.min(one.counts().size(), other.counts().size());
		return new Due(IntStream.range(0, size).mapToObj((i) -> one.counts().get(i) + other.counts().get(i)).toList(),
				one.estimated() || other.estimated());
	}

}
