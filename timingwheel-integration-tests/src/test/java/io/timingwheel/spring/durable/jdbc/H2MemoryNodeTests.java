package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Order;

@Order(2)
class H2MemoryNodeTests extends DurableNodeContractTests {

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
