package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.RecurringContractTests;

class H2FileRecurringTests extends RecurringContractTests {

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
