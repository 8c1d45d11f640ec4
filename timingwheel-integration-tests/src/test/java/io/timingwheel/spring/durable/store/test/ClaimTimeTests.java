package io.timingwheel.spring.durable.store.test;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.JdbcStores;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import org.awaitility.Awaitility;
import org.h2.api.Trigger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The times that a claim gives, on a database that takes long for each change of a task,
 * with the database's own clock.
 */
@Tag("measuring")
class ClaimTimeTests {

	private static final int SLOW_MILLIS = 250;

	/** By how much two clocks may differ that measure the same time. */
	private static final int CLOCKS_APART = 50;

	private static final int LEAST_MILLIS = SLOW_MILLIS - CLOCKS_APART;

	private static final Share SHARE = new Share(10, 10);

	private static final StartLimits ONE = new StartLimits(1, 0, 0, 1);

	private static final StartLimits FAST = new StartLimits(0, 0, 1, 100);

	private HikariDataSource pool;

	@AfterEach
	void close() {
		this.pool.close();
	}

	private DelayedTaskStore slowStore(TestDatabase database) {
		this.pool = database.newTaskDatabase();
		new JdbcTemplate(this.pool).execute(switch (database) {
			case POSTGRESQL -> """
					create function slow() returns trigger language plpgsql as $$
						begin perform pg_sleep(%d / 1000.0); return new; end $$;
					create trigger slow before update on timingwheel_task for each row execute function slow()"""
				.formatted(SLOW_MILLIS);
			default -> "create trigger slow before update on timingwheel_task for each row call '%s'"
				.formatted(SlowUpdate.class.getName());
		});
		return JdbcStores.open(this.pool);
	}

	/**
	 * A node takes the time of a claim for the time when it has the reply, and starts
	 * tasks late by the difference.
	 */
	@ParameterizedTest
	@EnumSource(names = { "H2_MEMORY", "POSTGRESQL" })
	void theTimeOfAClaimIsThatAfterTheChangeOfTheTasks(TestDatabase database) {
		DelayedTaskStore slow = slowStore(database);
		StoreNode node = new StoreNode("a", slow);
		slow.enqueue(
				List.of(StoreContract.task(null, StoreContract.SOON), StoreContract.task(null, StoreContract.SOON)));
		long before = slow.now();
		Claimed claimed = node.claim(Map.of(StoreContract.NAME, SHARE), 10);
		assertThat(claimed.tasks()).hasSize(2);
		assertThat(claimed.now()).isBetween(before + 2 * LEAST_MILLIS, slow.now() + CLOCKS_APART);
		for (StartLimits limits : List.of(ONE, FAST)) {
			Enqueued due = node.enqueue(StoreContract.task(null, Duration.ZERO));
			before = slow.now();
			claimed = node.claim(limits, 10);
			assertThat(claimed.tasks()).extracting(LeasedTask::id).containsExactly(due.id());
			assertThat(claimed.now()).isBetween(before + LEAST_MILLIS, slow.now() + CLOCKS_APART);
			node.acknowledge(claimed.tasks().get(0));
		}
		node.enqueue(StoreContract.task(null, Duration.ZERO));
		Map<String, Share> shares = Map.of(StoreContract.NAME, SHARE);
		ClaimRequest brief = new ClaimRequest("a", shares, 10, false, StoreNode.LOOK_AHEAD, Duration.ofMillis(1),
				Long.MAX_VALUE);
		Awaitility.await().until(() -> slow.claim(brief).newSuspects());
		before = slow.now();
		claimed = slow.claim(node.request(shares, 10, true));
		assertThat(claimed.tasks()).singleElement().matches(LeasedTask::suspect);
		assertThat(claimed.now()).isBetween(before + LEAST_MILLIS, slow.now() + CLOCKS_APART);
	}

	public static final class SlowUpdate implements Trigger {

		@Override
		public void fire(Connection connection, Object[] before, Object[] after) {
			LockSupport.parkNanos(Duration.ofMillis(SLOW_MILLIS).toNanos());
		}

	}

}
