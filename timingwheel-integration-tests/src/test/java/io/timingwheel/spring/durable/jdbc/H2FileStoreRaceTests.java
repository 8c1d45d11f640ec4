package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreRaceContractTests;
import org.junit.jupiter.api.Tag;

@Tag("faults")
class H2FileStoreRaceTests extends DelayedTaskStoreRaceContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.H2_FILE, getClass()).waitingForLocks();

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

}
