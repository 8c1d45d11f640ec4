package io.timingwheel.spring.durable;

import java.time.Duration;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.BeforeEach;

/**
 * Two nodes on one store.
 */
public abstract class StoreTestSupport {

	protected static final Duration LOOK_AHEAD = Duration.ofMinutes(2);

	/** Longer than a test takes, even if the machine stalls for some time. */
	protected static final Duration LEASE = Duration.ofMinutes(5);

	/** A delay within the look-ahead, and longer than a test takes. */
	protected static final Duration SOON = Duration.ofSeconds(90);

	protected static final long ANY_SIZE = Long.MAX_VALUE;

	/** The store of the first node. */
	protected DelayedTaskStore store;

	/** The store of the second node. */
	protected DelayedTaskStore other;

	@BeforeEach
	void nodes() throws Exception {
		clear();
		this.store = node();
		this.other = node();
	}

	/**
	 * Waits for as long as a busy machine may need.
	 */
	protected static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(Integer.getInteger("timingwheel.patience", 180)));
	}

	/**
	 * Deletes all tasks.
	 */
	protected void clear() throws Exception {
		node().testing().deleteAll();
	}

	/**
	 * Returns another store object on the same data, like the store of another node.
	 */
	protected abstract DelayedTaskStore node() throws Exception;

	/**
	 * Sets the store's clock ahead of the real clock, for both nodes.
	 */
	protected final void clockAhead(Duration offset) {
		clockAhead(this.store, offset);
		clockAhead(this.other, offset);
	}

	protected static void clockAhead(DelayedTaskStore store, Duration offset) {
		store.testing().setClock(() -> System.currentTimeMillis() + offset.toMillis());
	}

}
