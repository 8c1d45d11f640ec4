package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

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
			// The database closes this connection, because its transaction is idle.
			Connection stopped = pool.getConnection();
			ShortTransactions none = ConnectionSettings.read(pool).transactions();
			LimitRows rows = new LimitRows(new Database(new TableName(TableName.DEFAULT),
					new PostgresDialect(TextEncoding.UNICODE), none, none, new StoreTime(() -> 0, null)));
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

	/**
	 * If claims waited again and again, none would take less than a second.
	 */
	@Test
	void aClaimWaitsForAnotherClaimOfTheNameOnceAndNotForLong() throws SQLException {
		enqueue("k", Duration.ZERO);
		assertThat(claim(this.other, TWO)).hasSize(1);
		enqueue("l", Duration.ZERO);
		try (HikariDataSource pool = TestDatabase.newPool(this.nodes.url(), 1);
				Connection claiming = pool.getConnection()) {
			claiming.setAutoCommit(false);
			new JdbcTemplate(new SingleConnectionDataSource(claiming, true))
				.queryForList("select name from timingwheel_task_limit where name = ? for update", NAME);
			await().until(() -> {
				long start = System.nanoTime();
				assertThat(claim(this.store, TWO)).isEmpty();
				return System.nanoTime() - start < TimeUnit.SECONDS.toNanos(1);
			});
			claiming.rollback();
		}
		await().until(() -> claim(this.store, TWO).size() == 1);
	}

}
