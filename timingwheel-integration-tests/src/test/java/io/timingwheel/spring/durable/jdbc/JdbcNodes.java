package io.timingwheel.spring.durable.jdbc;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Nodes on a database.
 */
final class JdbcNodes {

	private final HikariDataSource pool;

	JdbcNodes(TestDatabase database) {
		this.pool = database.pool();
	}

	void clear() {
		new JdbcTemplate(this.pool).update("delete from timingwheel_task");
	}

	JdbcDelayedTaskStore node() {
		return new JdbcDelayedTaskStore(this.pool, this.pool, TableName.DEFAULT);
	}

}
