package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.RecurringContractTests;
import org.junit.jupiter.api.Tag;

@Tag("faults")
class MariaDbRecurringTests extends RecurringContractTests {

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
