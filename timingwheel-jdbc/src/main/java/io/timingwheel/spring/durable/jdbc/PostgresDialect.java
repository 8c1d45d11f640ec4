package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of PostgreSQL. The time is the time of the statement, since the time of the
 * transaction does not change.
 */
final class PostgresDialect extends Dialect {

	private final TextEncoding encoding;

	private PostgresDialect(TextEncoding encoding) {
		super("PostgreSQL", Schema.script("postgresql"));
		this.encoding = encoding;
	}

	static PostgresDialect of(Connection connection) throws SQLException {
		checkVersion(connection, "PostgreSQL", 12, 0);
		ConnectionSettings.checkWritable(connection,
				"on".equals(query(connection, "select current_setting('transaction_read_only')")));
		return new PostgresDialect(TextEncoding.of(query(connection, "select current_setting('server_encoding')")));
	}

	@Override
	protected String clock() {
		return "floor(extract(epoch from statement_timestamp()) * 1000)::bigint";
	}

	@Override
	boolean isPostgres() {
		return true;
	}

	@Override
	protected String unlessTaken() {
		return " on conflict do nothing";
	}

	@Override
	protected void limitLockWait(JdbcOperations jdbc) {
		jdbc.execute("set local lock_timeout = '100ms'");
	}

	@Override
	protected Object text(String text) {
		this.encoding.check(text);
		return text;
	}

	@Override
	protected @Nullable String text(ResultSet rs, int column) throws SQLException {
		return rs.getString(column);
	}

	@Override
	boolean canStore(String text) {
		return this.encoding.canStore(text);
	}

	@Override
	String error(String text) {
		String escaped = this.encoding.escaped(text.replace('\0', ' '));
		return escaped.substring(0, Math.min(escaped.length(), DelayedTaskStore.MAX_ERROR_LENGTH));
	}

	@Override
	String payload(String json) {
		return this.encoding.escaped(json);
	}

	@Override
	long storedBytes(long bytes) {
		return this.encoding.storedBytes(bytes);
	}

}
