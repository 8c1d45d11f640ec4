package io.timingwheel.spring.durable.autoconfigure;

import io.timingwheel.spring.durable.store.DelayedTaskStore;

/**
 * The store as the node sees it. Tests put faults between the two.
 *
 * @param store the store
 * @since 0.1
 */
public record NodeStore(DelayedTaskStore store) {

	/**
	 * Puts something between the node and the store.
	 *
	 * @since 0.1
	 */
	@FunctionalInterface
	public interface Decorator {

		/**
		 * Decorates a store.
		 * @param store the store of the application
		 * @return the store of the node
		 */
		DelayedTaskStore decorate(DelayedTaskStore store);

	}

}
