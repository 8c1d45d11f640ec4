package io.timingwheel.spring.durable.support;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StoredCounts;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Reads the figures of a store. A table is counted in a while, so that meters are given
 * figures that are a few seconds old.
 */
final class StoredCountsReader {

	private static final Log logger = LogFactory.getLog(StoredCountsReader.class);

	private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(5);

	private final DelayedTaskStore store;

	private final BooleanSupplier down;

	private @Nullable Map<String, StoredCounts> latest;

	private long readNanos;

	/**
	 * Creates a reader.
	 * @param store the store
	 * @param down whether it is known not to answer, which may take long to find out
	 */
	StoredCountsReader(DelayedTaskStore store, BooleanSupplier down) {
		this.store = store;
		this.down = down;
	}

	Map<String, StoredCounts> read(DurableHandlerRegistry handlers) {
		return this.down.getAsBoolean() ? recent(handlers) : complete(this.store.counts(), handlers);
	}

	synchronized Map<String, StoredCounts> recent(DurableHandlerRegistry handlers) {
		Map<String, StoredCounts> latest = this.latest;
		if (latest == null || (System.nanoTime() - this.readNanos > RECENT_NANOS && !this.down.getAsBoolean())) {
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
		return complete(latest, handlers);
	}

	/**
	 * Has figures for each handler, those of its aliases included.
	 */
	private static Map<String, StoredCounts> complete(Map<String, StoredCounts> counts,
			DurableHandlerRegistry handlers) {
		Map<String, StoredCounts> complete = new TreeMap<>();
		handlers.names().forEach((name) -> {
			DurableHandler handler = handlers.find(name);
			if (handler != null) {
				complete.putIfAbsent(handler.name(), StoredCounts.NONE);
			}
		});
		counts.forEach((name, count) -> {
			DurableHandler handler = handlers.find(name);
			complete.merge((handler != null) ? handler.name() : name, count, StoredCounts::plus);
		});
		return complete;
	}

}
