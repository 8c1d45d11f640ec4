package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.util.Assert;

/**
 * PostgreSQL. The time is that of the statement, as that of the transaction stands still.
 */
final class PostgresDialect extends Dialect {

	static final String NOW = "floor(extract(epoch from statement_timestamp()) * 1000)::bigint";

	/**
	 * A condition that holds if its three parameters are 1, and has PostgreSQL plan the
	 * statement anew for each execution. A plan that it made for later ones, while the
	 * table was small, would read the table from end to end when it is large. It keeps
	 * one that does not know the parameters unless that seems dearer: then it expects a
	 * thousand rows from each of these, and else one.
	 */
	static final String PLANNED_ANEW = "(select count(*) from generate_series(1, ?::int) a, generate_series(1, ?::int) b,"
			+ " generate_series(1, ?::int) c) > 0";

	@Override
	long now(JdbcOperations jdbc) {
		return Rows.number(jdbc, "select " + NOW);
	}

	@Override
	String nowExpression() {
		return "(" + NOW + " + ?)";
	}

	/**
	 * Not used by {@link PostgresClaims}.
	 */
	@Override
	String nameWithoutIndex() {
		return "(name || '')";
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

	/**
	 * An insert that fails would end the transaction.
	 */
	@Override
	String unlessPending() {
		return " on conflict (name, pending_key) where pending_key is not null do nothing";
	}

	@Override
	void limitWaiting(JdbcOperations jdbc) {
		jdbc.execute("set local lock_timeout = '100ms'");
	}

	@Override
	String error(String text) {
		return text.replace('\0', '\ufffd');
	}

	@Override
	Claims claims(Database database) {
		return new PostgresClaims(database);
	}

	@Override
	Leases leases(Database database) {
		return new PostgresLeases(database);
	}

	@Override
	Enqueueing enqueueing(Database database) {
		return new PostgresEnqueueing(database);
	}

	@Override
	BulkEnqueueing bulkEnqueueing(Database database) {
		return new PostgresBulkEnqueueing(database, enqueueing(database));
	}

}
