package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.SimulatedClusterContractTests;
import io.timingwheel.spring.durable.TestStores;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.BeforeEach;

class H2MemorySimulatedClusterTests extends SimulatedClusterContractTests {

	private final TestStores nodes = TestDatabase.H2_MEMORY.stores(getClass());

	@BeforeEach
	void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore store() {
		return this.nodes.node();
	}

	@Override
	protected long runs() {
		return 1_000;
	}

}
