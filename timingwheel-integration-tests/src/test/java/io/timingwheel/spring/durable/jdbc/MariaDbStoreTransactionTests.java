package io.timingwheel.spring.durable.jdbc;

import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("servers")
class MariaDbStoreTransactionTests extends JdbcStoreTransactionContractTests {

	MariaDbStoreTransactionTests() {
		super(TestDatabase.MARIADB);
	}

	/**
	 * InnoDB may lock the gap between two keys, so the retry may have to wait.
	 */
	@Override
	protected Set<Reply> repliesBesideALockedKey() {
		return Set.of(Reply.DONE, Reply.BUSY);
	}

	@Override
	boolean locksNeighbouringKeys() {
		return true;
	}

	@Test
	void aRetryLeavesTheConnectionWithTheSettingsOfItsPool() {
		LeasedTask task = begun("k");
		try (HikariDataSource single = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			JdbcTemplate connection = new JdbcTemplate(single);
			connection.execute("set session innodb_lock_wait_timeout = 7");
			assertThat(retry(JdbcStores.open(single), task.ref(), 2, HOUR)).isEqualTo(Reply.DONE);
			assertThat(connection.queryForObject("select @@session.innodb_lock_wait_timeout", Integer.class))
				.isEqualTo(7);
		}
	}

}
