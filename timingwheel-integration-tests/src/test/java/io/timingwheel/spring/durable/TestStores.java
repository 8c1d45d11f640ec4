package io.timingwheel.spring.durable;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;

/**
 * The stores of the nodes of a test class, on the same data.
 */
@FunctionalInterface
public interface TestStores {

	DelayedTaskStore node();

	static TestStores inMemory(Class<?> testClass) {
		InMemoryTaskStore first = new InMemoryTaskStore();
		return () -> new InMemoryTaskStore(first);
	}

	default void clear() {
		node().testing().deleteAll();
	}

}
