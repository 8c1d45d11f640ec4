package io.timingwheel.spring.durable.store.test;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.jdbc.JdbcStores;
import io.timingwheel.spring.durable.jdbc.TestDatabase;
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

	/** InnoDB may lock the gap between two keys. */
	@Override
	boolean locksNeighbouringKeys() {
		return true;
	}

	@Test
	void aRetryLeavesTheConnectionWithTheSettingsOfItsPool() {
		LeasedTask task = running("k");
		try (HikariDataSource single = TestDatabase.newPool(this.pool.getJdbcUrl(), 1)) {
			JdbcTemplate connection = new JdbcTemplate(single);
			connection.execute("set session innodb_lock_wait_timeout = 7");
			assertThat(new StoreNode("c", JdbcStores.open(single)).retry(task, HOUR)).isEqualTo(Reply.DONE);
			assertThat(connection.queryForObject("select @@session.innodb_lock_wait_timeout", Integer.class))
				.isEqualTo(7);
		}
	}

}
