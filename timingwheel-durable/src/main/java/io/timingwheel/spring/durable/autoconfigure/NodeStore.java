package io.timingwheel.spring.durable.autoconfigure;

import io.timingwheel.spring.durable.store.DelayedTaskStore;

/**
 * The store as the node sees it. Tests put faults between the two.
 *
 * @since 0.1
 */
public record NodeStore(DelayedTaskStore store) {

	/** Puts something between the node and the store. */
	@FunctionalInterface
	public interface Decorator {

		DelayedTaskStore decorate(DelayedTaskStore store);

	}

}
