package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PostgresStoreTests extends DelayedTaskStoreContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.POSTGRESQL, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	/**
	 * A claim begins its search at the time up to which earlier claims have searched. The
	 * updated task is due before that time.
	 */
	@Test
	void theNextClaimFindsAnOverdueTaskThatWasUpdated() {
		leased("k");
		clockAhead(SOON.plusMinutes(1));
		assertThat(claim()).isEmpty();
		Enqueued updated = this.store.enqueue(task("k", Duration.ZERO, IfPending.UPDATE));
		assertThat(claim()).extracting(LeasedTask::id).containsExactly(updated.id());
	}

}
