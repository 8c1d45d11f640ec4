package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.NodeScheduleContractTests;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;

@Order(2)
@Tag("faults")
class MariaDbNodeScheduleTests extends NodeScheduleContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.MARIADB, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

}
