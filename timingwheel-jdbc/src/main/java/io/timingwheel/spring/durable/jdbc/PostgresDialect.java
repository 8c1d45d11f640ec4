package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of PostgreSQL.
 */
final class PostgresDialect extends Dialect {

	/** With SQL_ASCII the database keeps the bytes of the driver, which are UTF-8. */
	private static final Set<String> ENCODINGS = Set.of("UTF8", "SQL_ASCII");

	private PostgresDialect() {
		super("PostgreSQL", Schema.script("postgresql"));
	}

	static PostgresDialect of(Connection connection) throws SQLException {
		checkVersion(connection, "PostgreSQL", 12, 0);
		String encoding = query(connection, "select current_setting('server_encoding')");
		if (!ENCODINGS.contains(encoding)) {
			throw new UnusableTaskStoreException(
					"the database has the encoding %s, which does not have all characters that durable tasks may use"
						.formatted(encoding),
					"declare a JdbcDelayedTaskStore bean with a DataSource for a database that was created with the encoding"
							+ " UTF8, in which Schema.create has made the tables, or set timingwheel.store.type to redis or none");
		}
		return new PostgresDialect();
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
		return text;
	}

	@Override
	protected @Nullable String text(ResultSet rs, int column) throws SQLException {
		return rs.getString(column);
	}

}
