package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
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
 * Reads lists and counts of the stored tasks of all nodes, and adds up the names of each
 * handler. Counting many tasks takes a while, so meters get counts that are a few seconds
 * old. Thread-safe.
 *
 * @since 0.1
 */
public final class StoredTaskReader {

	private static final Comparator<StoredTask> LATEST_DEATH = Comparator
		.comparing(StoredTask::diedAt, Comparator.nullsFirst(Comparator.<Long>naturalOrder()))
		.thenComparing(StoredTask::id)
		.reversed();

	private static final Log logger = LogFactory.getLog(StoredTaskReader.class);

	/** How long meters get the same counts. */
	static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(5);

	private static final int PAGE = 500;

	private final DelayedTaskStore store;

	private final DurableHandlerRegistry handlers;

	private final DurableNode node;

	private final long recentNanos;

	private @Nullable Map<String, StoredCounts> latest;

	private long readNanos;

	/**
	 * Creates a reader.
	 * @param store the store
	 * @param handlers the handlers of this node
	 * @param node tells which names this node may start, and whether the store answers
	 * @param recentNanos how long meters get the same counts
	 */
	StoredTaskReader(DelayedTaskStore store, DurableHandlerRegistry handlers, DurableNode node, long recentNanos) {
		this.store = store;
		this.handlers = handlers;
		this.node = node;
		this.recentNanos = recentNanos;
	}

	/**
	 * Finds a task in any state.
	 * @param id its id
	 * @return the task, empty if it does not exist (any more)
	 */
	public Optional<StoredTask> find(String id) {
		return this.store.find(id);
	}

	/**
	 * Reads the pending tasks of a name and of the earlier names of its handler.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the first one due first
	 */
	public List<StoredTask> pending(String name, int limit) {
		return pending(name, null, limit);
	}

	/**
	 * Reads a page of the pending tasks of a name and of the earlier names of its
	 * handler.
	 * @param name the name
	 * @param after the last task of the page before, {@code null} for the first page
	 * @param limit how many at most
	 * @return the tasks, the first one due first; fewer than the limit only if there are
	 * no more
	 */
	public List<StoredTask> pending(String name, StoredTask.@Nullable Position after, int limit) {
		Comparator<StoredTask> order = Comparator.comparing(StoredTask::dueAt).thenComparing(StoredTask::id);
		return merged(name, limit, order, (each) -> this.store.pending(new PendingQuery(each, after, limit)));
	}

	/**
	 * Reads the dead tasks of a name and of the earlier names of its handler.
	 * @param name the name
	 * @param limit how many at most
	 * @return the tasks, the one that died last first
	 */
	public List<StoredTask> dead(String name, int limit) {
		return merged(name, limit, LATEST_DEATH, (each) -> this.store.dead(each, limit));
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
	 * Counts how many pending tasks fall due in equal spans of the time ahead. The names
	 * are at most a few seconds old.
	 * @param span the length of a span, at least a millisecond
	 * @param spans the number of spans
	 * @param maxNames for how many names at most, those with the most pending tasks; no
	 * more than {@link ForecastQuery#MAX_NAMES}
	 * @return the counts, which are estimates for names with many tasks
	 */
	public Forecast forecast(Duration span, int spans, int maxNames) {
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
	 * Tells whether a task that runs once is pending, and this node may start its name,
	 * or whether any task is running. Reads all recurring tasks, which takes a while if
	 * there are many.
	 * @return whether there is one
	 */
	public boolean hasUnfinishedOnce() {
		return this.store.counts()
			.entrySet()
			.stream()
			.anyMatch((entry) -> entry.getValue().running() > 0
					|| (entry.getValue().pending() > 0 && mayStart(entry.getKey()) && hasPendingOnce(entry.getKey())));
	}

	private boolean mayStart(String name) {
		return this.node.isClaiming() && this.handlers.find(name) != null && !this.node.isPaused(name);
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
	 * Counts the stored tasks of each name, over all nodes. While the store is known not
	 * to answer, these are the latest counts.
	 * @return the counts by name, of all names that have a task or a handler here
	 */
	public Map<String, StoredCounts> counts() {
		return isStoreDown() ? recentCounts() : byHandler(this.store.counts());
	}

	/**
	 * Counts the stored tasks of one name, over all nodes. Where {@link #counts()}
	 * estimates the figures of a name with many tasks, these may be exact.
	 * @param name the name
	 * @return the counts, {@code null} if the name has no task and no handler here
	 */
	public @Nullable StoredCounts counts(String name) {
		return isStoreDown() ? recentCounts().get(name)
				: byHandler(this.store.counts(this.handlers.allNames(name))).get(name);
	}

	/**
	 * The counts of {@link #counts()}, at most five seconds old. Does not call a store
	 * that is known not to answer.
	 * @return the counts by name; without those of the store if it has never answered
	 */
	public Map<String, StoredCounts> recentCounts() {
		return byHandler(latestCounts());
	}

	private boolean isStoreDown() {
		return this.node.availability().error() != null;
	}

	private synchronized Map<String, StoredCounts> latestCounts() {
		Map<String, StoredCounts> latest = this.latest;
		if (latest == null || (System.nanoTime() - this.readNanos >= this.recentNanos && !isStoreDown())) {
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
	 * Counts the pending tasks that this node has no handler for.
	 * @return the number, at most five seconds old
	 */
	public long unknownCount() {
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
				this.node.mayHoldBack(name) ? count.heldBack() : count, StoredCounts::plus));
		return result;
	}

}
