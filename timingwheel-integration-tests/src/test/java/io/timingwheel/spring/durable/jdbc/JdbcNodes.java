package io.timingwheel.spring.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;

/**
 * Nodes on the database of a test class.
 */
final class JdbcNodes {

	private final HikariDataSource pool;

	JdbcNodes(TestDatabase database, Class<?> testClass) {
		this.pool = database.pool(testClass);
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
