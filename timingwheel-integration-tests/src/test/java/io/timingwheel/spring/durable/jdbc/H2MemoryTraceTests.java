package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DurableTraceContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

class H2MemoryTraceTests extends DurableTraceContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.H2_MEMORY, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

}
