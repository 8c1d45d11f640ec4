package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Order;

@Order(2)
class PostgresNodeScheduleTests extends NodeScheduleContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.POSTGRESQL, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

}
