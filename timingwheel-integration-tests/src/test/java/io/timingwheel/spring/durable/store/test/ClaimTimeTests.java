package io.timingwheel.spring.durable.store.test;

import java.util.List;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.JdbcStores;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("measuring")
class ClaimTimeTests {

	private static final int SLOW_MILLIS = 250;

	/** By how much two clocks may differ that measure the same time. */
	private static final int CLOCKS_APART = 50;

	/**
	 * A node takes the time of a claim for the time when it has the reply. If all its
	 * claims are slow, it starts tasks late by the difference.
	 */
	@Test
	void onPostgresTheTimeOfAClaimIsThatAfterTheChangeOfTheTasks() {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.newTaskDatabase()) {
			new JdbcTemplate(pool).execute("""
					create function slow() returns trigger language plpgsql as $$
						begin perform pg_sleep(%d / 1000.0); return new; end $$;
					create trigger slow before update on timingwheel_task for each row execute function slow()"""
				.formatted(SLOW_MILLIS));
			DelayedTaskStore slow = JdbcStores.open(pool);
			slow.enqueue(List.of(StoreContract.task(null, StoreContract.SOON),
					StoreContract.task(null, StoreContract.SOON)));
			long before = slow.now();
			Claimed claimed = new StoreNode("a", slow).claim(Map.of(StoreContract.NAME, new Share(10, 10)), 10);
			assertThat(claimed.tasks()).hasSize(2);
			assertThat(claimed.now()).isBetween(before + 2 * (SLOW_MILLIS - CLOCKS_APART), slow.now() + CLOCKS_APART);
		}
	}

}
