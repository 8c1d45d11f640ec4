package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.StartLimitContractTests;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;

class PostgresStartLimitTests extends StartLimitContractTests {

	private final JdbcNodes nodes = new JdbcNodes(TestDatabase.POSTGRESQL, getClass());

	@Override
	protected void clear() {
		this.nodes.clear();
	}

	@Override
	protected DelayedTaskStore node() {
		return this.nodes.node();
	}

	@Test
	void aNodeThatIsStoppedInAClaimHoldsUpTheNameForSecondsOnly() throws SQLException {
		try (HikariDataSource pool = TestDatabase.newPool(this.nodes.url(), 2)) {
			// The database closes this connection.
			Connection stopped = pool.getConnection();
			ShortTransactions none = ConnectionSettings.read(pool).transactions();
			LimitRows rows = new LimitRows(new Database(new TableName(TableName.DEFAULT), new PostgresDialect(), none,
					none, new StoreTime(() -> 0, null)));
			rows.create(NAME);
			enqueue("k", Duration.ZERO);
			stopped.setAutoCommit(false);
			assertThat(rows.lock(new JdbcTemplate(new SingleConnectionDataSource(stopped, true)), NAME)).isZero();
			if (claim(this.store, TWO).isEmpty()) {
				await().until(() -> !claim(this.store, TWO).isEmpty());
			}
			else {
				// The machine was so slow that the name was held up no longer.
				assertThat(stopped.isValid(0)).isFalse();
			}
		}
	}

}
