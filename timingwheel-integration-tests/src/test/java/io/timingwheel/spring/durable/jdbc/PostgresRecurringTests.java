package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.RecurringContractTests;

class PostgresRecurringTests extends RecurringContractTests {

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
