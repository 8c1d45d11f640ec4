package io.timingwheel.spring.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Nodes on the database of a test class.
 */
final class JdbcNodes {

	private final HikariDataSource pool;

	JdbcNodes(TestDatabase database, Class<?> testClass) {
		this.pool = database.pool(testClass);
	}

	/**
	 * Lets H2 wait for a lock until a machine that stalls goes on. Otherwise H2 waits two
	 * seconds.
	 */
	JdbcNodes waitingForLocks() {
		new JdbcTemplate(this.pool).execute("set default_lock_timeout 60000");
		// New connections have the new default.
		this.pool.getHikariPoolMXBean().softEvictConnections();
		return this;
	}

	String url() {
		return this.pool.getJdbcUrl();
	}

	void clear() {
		node().testing().deleteAll();
	}

	JdbcDelayedTaskStore node() {
		return JdbcStores.open(this.pool);
	}

}
