package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.util.Assert;

/**
 * The dialect of PostgreSQL. The time is the time of the statement, since the time of the
 * transaction does not change.
 */
final class PostgresDialect extends Dialect {

	private static final String NOW = "floor(extract(epoch from statement_timestamp()) * 1000)::bigint";

	/**
	 * What a statement adds its parameter to, to get the time.
	 */
	static String clock(StoreTime time) {
		return time.isGiven() ? "0::bigint" : NOW;
	}

	@Override
	Transitions transitions(Database database) {
		return new PostgresTransitions(database);
	}

	@Override
	long now(JdbcOperations jdbc) {
		return number(jdbc, "select " + NOW);
	}

	@Override
	Object text(String text) {
		Assert.isTrue(text.indexOf('\0') < 0, "PostgreSQL cannot store U+0000 in the name or key of a task");
		return text;
	}

	@Override
	@Nullable String text(ResultSet rs, String column) throws SQLException {
		return rs.getString(column);
	}

	@Override
	String error(String text) {
		return text.replace('\0', '\ufffd');
	}

	/**
	 * The end of an id is random. The condition must be that of the index.
	 */
	@Override
	String isSampled() {
		return "right(id, 2) = '00'";
	}

	@Override
	void limitLockWait(JdbcOperations jdbc) {
		jdbc.execute("set local lock_timeout = '100ms'");
	}

}
