package io.timingwheel.spring.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStoreContractTests;
import io.timingwheel.spring.durable.LeasedTask;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class MariaDbStoreTests extends DelayedTaskStoreContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.MARIADB, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	@Override
	protected boolean sharesRequests() {
		return false;
	}

	@Test
	void aRetryLeavesTheConnectionWithTheSettingsOfItsPool() {
		LeasedTask task = begun("k");
		try (HikariDataSource pool = TestDatabase.newPool(this.nodes.url(), 1)) {
			JdbcTemplate connection = new JdbcTemplate(pool);
			connection.execute("set session innodb_lock_wait_timeout = 7");
			JdbcDelayedTaskStore node = new JdbcDelayedTaskStore(pool, pool, TableName.DEFAULT);
			assertThat(retry(node, task.ref(), 2, HOUR)).isEqualTo(Reply.DONE);
			assertThat(connection.queryForObject("select @@session.innodb_lock_wait_timeout", Integer.class))
				.isEqualTo(7);
		}
	}

}
