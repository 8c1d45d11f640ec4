package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DurableNodeContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class H2FileNodeTests extends DurableNodeContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.H2_FILE, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

}
