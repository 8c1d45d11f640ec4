package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreRaceContractTests;

class H2MemoryStoreRaceTests extends DelayedTaskStoreRaceContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.H2_MEMORY, getClass()).waitingForLocks();

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

}
