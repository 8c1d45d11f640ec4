package io.timingwheel.spring.durable.reference;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.SimulatedClusterContractTests;

class ReferenceSimulatedClusterTests extends SimulatedClusterContractTests {

	private final ReferenceStore.Data data = new ReferenceStore.Data();

	@Override
	protected DelayedTaskStore store() {
		return new ReferenceStore(this.data);
	}

	@Override
	protected long runs() {
		return 20_000;
	}

}
