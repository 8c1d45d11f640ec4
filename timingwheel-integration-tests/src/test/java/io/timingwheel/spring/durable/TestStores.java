package io.timingwheel.spring.durable;

import io.timingwheel.spring.durable.store.DelayedTaskStore;

/**
 * The stores of the nodes of a test class, on the same data.
 */
@FunctionalInterface
public interface TestStores {

	/**
	 * Returns the store of another node.
	 */
	DelayedTaskStore node();

	/**
	 * Deletes all tasks.
	 */
	default void clear() {
		node().testing().deleteAll();
	}

}
