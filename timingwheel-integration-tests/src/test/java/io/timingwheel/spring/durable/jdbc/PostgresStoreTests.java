package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.task.IfPending;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

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

	/**
	 * A node takes the time of a claim for the time when it has the reply, and starts
	 * tasks late by the difference. Here the change of each task takes some time.
	 */
	@Test
	void theTimeOfAClaimIsReadAfterTheTasksHaveChanged() {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.newTaskDatabase()) {
			new JdbcTemplate(pool).execute("""
					create function wait() returns trigger language plpgsql as $$
						begin perform pg_sleep(0.2); return new; end $$;
					create trigger wait before update on timingwheel_task for each row execute function wait()""");
			DelayedTaskStore slow = new JdbcDelayedTaskStore(pool, pool, TableName.DEFAULT);
			slow.enqueue(task("soon", SOON));
			long before = slow.now();
			Claimed claimed = claim(slow, "a", 10);
			assertThat(claimed.tasks()).hasSize(1);
			assertThat(claimed.now()).isBetween(before + 200, slow.now());
			slow.enqueue(task("now", Duration.ZERO));
			before = slow.now();
			claimed = slow.claim(new ClaimRequest("a", Map.of(NAME, new Limit(10, 0)), 10, false, LOOK_AHEAD, LEASE,
					ANY_SIZE, Map.of(NAME, new StartLimits(1, 0, 0, 1))));
			assertThat(claimed.tasks()).hasSize(1);
			assertThat(claimed.now()).isBetween(before + 200, slow.now());
		}
	}

}
