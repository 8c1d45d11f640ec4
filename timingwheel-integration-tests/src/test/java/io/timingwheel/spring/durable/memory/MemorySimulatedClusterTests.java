package io.timingwheel.spring.durable.memory;

import io.timingwheel.spring.durable.SimulatedClusterContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;

class MemorySimulatedClusterTests extends SimulatedClusterContractTests {

	private final InMemoryTaskStore first = new InMemoryTaskStore();

	@Override
	protected DelayedTaskStore store() {
		return new InMemoryTaskStore(this.first);
	}

	@Override
	protected long runs() {
		return 20_000;
	}

}
