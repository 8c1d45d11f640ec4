package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.store.DelayedTaskStore;

/** The contract of a store, on the store in memory. */
// tag::contract[]
class InMemoryTaskStoreTests extends StoreContractTests {

	private static final InMemoryTaskStore SERVER = new InMemoryTaskStore();

	@Override
	protected DelayedTaskStore openStore() {
		return new InMemoryTaskStore(SERVER);
	}

}
// end::contract[]
