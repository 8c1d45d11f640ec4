package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.function.Function;

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

	private final TestStores stores;

	/**
	 * Creates a test.
	 * @param stores gives the stores of a test class
	 */
	protected StoreTestSupport(Function<Class<?>, ? extends TestStores> stores) {
		this.stores = stores.apply(getClass());
	}

	@BeforeEach
	void nodes() {
		this.stores.clear();
		this.store = this.stores.node();
		this.other = this.stores.node();
	}

	/**
	 * Waits for as long as a busy machine may need.
	 */
	protected static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(Integer.getInteger("timingwheel.patience", 180)));
	}

	/**
	 * Returns another store object on the same data, like the store of another node.
	 */
	protected final DelayedTaskStore node() {
		return this.stores.node();
	}

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
