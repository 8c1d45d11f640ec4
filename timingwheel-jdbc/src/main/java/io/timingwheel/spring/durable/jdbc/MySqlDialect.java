package io.timingwheel.spring.durable.jdbc;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * MariaDB and MySQL. A time in UTC has no second that comes twice.
 */
final class MySqlDialect extends BinaryTextDialect {

	private static final String NOW = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000";

	@Override
	long now(JdbcOperations jdbc) {
		return Rows.number(jdbc, "select " + NOW);
	}

	@Override
	String nowExpression() {
		return "(" + NOW + " + ?)";
	}

	@Override
	String nameWithoutIndex() {
		return "concat(name, '')";
	}

	/**
	 * An insert that fails would hold a shared lock on the other task, and two of them a
	 * deadlock.
	 */
	@Override
	String unlessPending() {
		return " on duplicate key update fence = fence";
	}

	@Override
	String orLocked() {
		return " for update nowait";
	}

	/**
	 * One second is the shortest. InnoDB may wait here for a task with another key, too,
	 * if it comes next in the index.
	 */
	@Override
	void limitWaiting(JdbcOperations jdbc) {
		jdbc.execute("set session innodb_lock_wait_timeout = 1");
	}

	@Override
	void endLimitOfWaiting(JdbcOperations jdbc) {
		jdbc.execute("set session innodb_lock_wait_timeout = default");
	}

}
