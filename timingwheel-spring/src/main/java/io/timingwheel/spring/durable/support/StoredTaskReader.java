package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Forecast.DueCounts;
import io.timingwheel.spring.durable.Forecast;
import io.timingwheel.spring.durable.ForecastQuery;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Reads lists and counts of stored tasks, and adds up the names of each handler. Counting
 * many tasks takes a while, so meters get counts that are a few seconds old. Thread-safe.
 */
final class StoredTaskReader {

	private static final Log logger = LogFactory.getLog(StoredTaskReader.class);

	/** How long meters get the same counts. */
	static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(5);

	private static final int PAGE = 500;

	private final DelayedTaskStore store;

	private final DurableHandlerRegistry handlers;

	private final BooleanSupplier down;

	private final Predicate<String> holdsBack;

	private final long recentNanos;

	private @Nullable Map<String, StoredCounts> latest;

	private long readNanos;

	/**
	 * Creates a reader.
	 * @param store the store
	 * @param handlers the handlers of this node
	 * @param down tells whether the store is known not to answer
	 * @param holdsBack tells whether a policy may hold back the tasks of a name
	 * @param recentNanos how long meters get the same counts
	 */
	StoredTaskReader(DelayedTaskStore store, DurableHandlerRegistry handlers, BooleanSupplier down,
			Predicate<String> holdsBack, long recentNanos) {
		this.store = store;
		this.handlers = handlers;
		this.down = down;
		this.holdsBack = holdsBack;
		this.recentNanos = recentNanos;
	}

	List<StoredTask> pending(String name, StoredTask.@Nullable Position after, int limit) {
		Comparator<StoredTask> order = Comparator.comparing(StoredTask::dueAt).thenComparing(StoredTask::id);
		return merged(name, limit, order, (each) -> this.store.pending(new PendingQuery(each, after, limit)));
	}

	List<StoredTask> dead(String name, int limit) {
		return merged(name, limit, Comparator.comparing(StoredTask::dueAt).reversed(),
				(each) -> this.store.dead(each, limit));
	}

	private List<StoredTask> merged(String name, int limit, Comparator<StoredTask> order,
			Function<String, List<StoredTask>> read) {
		List<String> names = this.handlers.allNames(name);
		if (names.size() == 1) {
			return read.apply(name);
		}
		return names.stream().flatMap((each) -> read.apply(each).stream()).sorted(order).limit(limit).toList();
	}

	/**
	 * Counts how many tasks fall due in equal spans of the time ahead, for the names with
	 * the most pending tasks.
	 */
	Forecast forecast(Duration span, int spans, int maxNames) {
		Map<String, Long> names = new HashMap<>();
		latestCounts().forEach((name, counts) -> names.put(name, counts.pending()));
		// The latest counts may be from before the first tasks of these names.
		this.handlers.names().forEach((name) -> names.putIfAbsent(name, 0L));
		Map<String, Long> pending = new LinkedHashMap<>();
		names.entrySet()
			.stream()
			.sorted(Map.Entry.<String, Long>comparingByValue().reversed())
			.limit(maxNames)
			.forEach((entry) -> pending.put(entry.getKey(), entry.getValue()));
		Forecast forecast = this.store.forecast(new ForecastQuery(pending, span, spans));
		Map<String, DueCounts> byHandler = new TreeMap<>();
		forecast.names()
			.forEach((name, counts) -> byHandler.merge(this.handlers.canonicalName(name), counts,
					StoredTaskReader::plus));
		return new Forecast(forecast.from(), byHandler);
	}

	private static DueCounts plus(DueCounts one, DueCounts other) {
		int size = Math.min(one.counts().size(), other.counts().size());
		return new DueCounts(
				IntStream.range(0, size).mapToObj((i) -> one.counts().get(i) + other.counts().get(i)).toList(),
				one.estimated() || other.estimated());
	}

	/**
	 * Whether a task is running, or pending and may start, that is not recurring.
	 * @param mayStart tells whether this node may start the tasks of a name
	 */
	boolean hasUnfinishedOnce(Predicate<String> mayStart) {
		return this.store.counts()
			.entrySet()
			.stream()
			.anyMatch((entry) -> entry.getValue().running() > 0 || (entry.getValue().pending() > 0
					&& mayStart.test(entry.getKey()) && hasPendingOnce(entry.getKey())));
	}

	private boolean hasPendingOnce(String name) {
		StoredTask.Position after = null;
		while (true) {
			List<StoredTask> page = this.store.pending(new PendingQuery(name, after, PAGE));
			if (page.stream().anyMatch((task) -> task.schedule() == null)) {
				return true;
			}
			if (page.size() < PAGE) {
				return false;
			}
			after = page.get(page.size() - 1).position();
		}
	}

	/**
	 * The counts as they are now or, while the store is known not to answer, the latest
	 * ones.
	 */
	Map<String, StoredCounts> counts() {
		return this.down.getAsBoolean() ? recentCounts() : byHandler(this.store.counts());
	}

	/**
	 * The counts of one handler, or of one other name that has a task, as
	 * {@link #counts()} would give them.
	 * @return the counts, {@code null} if there is no such handler and no such task
	 */
	@Nullable StoredCounts counts(String name) {
		return this.down.getAsBoolean() ? recentCounts().get(name)
				: byHandler(this.store.counts(this.handlers.allNames(name))).get(name);
	}

	/**
	 * The counts as they were a few seconds ago, empty if the store has never answered.
	 */
	Map<String, StoredCounts> recentCounts() {
		return byHandler(latestCounts());
	}

	private synchronized Map<String, StoredCounts> latestCounts() {
		Map<String, StoredCounts> latest = this.latest;
		if (latest == null || (System.nanoTime() - this.readNanos >= this.recentNanos && !this.down.getAsBoolean())) {
			try {
				latest = this.store.counts();
			}
			catch (RuntimeException ex) {
				logger.debug("The stored tasks could not be counted", ex);
				latest = (latest != null) ? latest : Map.of();
			}
			this.latest = latest;
			this.readNanos = System.nanoTime();
		}
		return latest;
	}

	/**
	 * The number of pending tasks that this node has no handler for, at most a few
	 * seconds old.
	 */
	long unknownCount() {
		Set<String> known = this.handlers.names();
		return recentCounts().entrySet()
			.stream()
			.filter((entry) -> !known.contains(entry.getKey()))
			.mapToLong((entry) -> entry.getValue().pending())
			.sum();
	}

	/**
	 * The counts of each handler, with those of its earlier names, and of each other name
	 * that has a task.
	 */
	private Map<String, StoredCounts> byHandler(Map<String, StoredCounts> counts) {
		Map<String, StoredCounts> result = new TreeMap<>();
		this.handlers.names().forEach((name) -> result.put(this.handlers.canonicalName(name), StoredCounts.NONE));
		counts.forEach((name, count) -> result.merge(this.handlers.canonicalName(name),
				this.holdsBack.test(name) ? count.heldBack() : count, StoredCounts::plus));
		return result;
	}

}
