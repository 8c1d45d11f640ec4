package io.timingwheel.spring.durable.reference;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;

/**
 * The store that other tests use as their reference fulfils the contract itself.
 */
class ReferenceStoreTests extends DelayedTaskStoreContractTests {

	private ReferenceStore.Data data;

	@Override
	protected void clear() {
		this.data = new ReferenceStore.Data();
	}

	@Override
	protected DelayedTaskStore node() {
		return new ReferenceStore(this.data);
	}

	@Override
	protected boolean sharesRequests() {
		return false;
	}

}
