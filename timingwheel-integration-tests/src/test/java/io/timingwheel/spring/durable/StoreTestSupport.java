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

	protected StoreTestSupport(Function<Class<?>, ? extends TestStores> stores) {
		this.stores = stores.apply(getClass());
	}

	@BeforeEach
	void nodes() {
		this.stores.clear();
		this.store = this.stores.node();
		this.other = this.stores.node();
	}

	protected static ConditionFactory await() {
		return Awaitility.await().atMost(Duration.ofSeconds(Integer.getInteger("timingwheel.patience", 180)));
	}

	protected final DelayedTaskStore node() {
		return this.stores.node();
	}

	protected final void clockAhead(Duration offset) {
		clockAhead(this.store, offset);
		clockAhead(this.other, offset);
	}

	protected static void clockAhead(DelayedTaskStore store, Duration offset) {
		store.testing().setClock(() -> System.currentTimeMillis() + offset.toMillis());
	}

}
