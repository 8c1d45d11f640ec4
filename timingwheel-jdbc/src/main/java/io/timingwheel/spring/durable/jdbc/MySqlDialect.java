package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of MariaDB and MySQL. The time is read in UTC, in which no second comes
 * twice.
 */
final class MySqlDialect extends Dialect {

	// One-byte encodings do not have this character.
	private static final String ARROW = "\u2192";

	private static final String ARROW_IN_UTF8 = "E28692";

	private MySqlDialect(String product) {
		super(product, Schema.script("mysql"));
	}

	/**
	 * A driver that was told to use another encoding replaces characters, without an
	 * error.
	 */
	static MySqlDialect of(Connection connection, String product, int major, int minor) throws SQLException {
		checkVersion(connection, product, major, minor);
		if (!ARROW_IN_UTF8.equals(query(connection, "select hex(convert(? using utf8mb4))", ARROW))) {
			throw new UnusableTaskStoreException(
					"the connections of %s change the texts that they send, so that durable tasks would get other arguments"
						.formatted(Database.Settings.withoutOptions(connection.getMetaData().getURL())),
					"let them use UTF-8: remove characterEncoding from the URL, and a \"set names\" for another encoding");
		}
		return new MySqlDialect(product);
	}

	@Override
	protected String clock() {
		return "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000";
	}

	/**
	 * An insert that fails would keep a shared lock on the pending task, and two such
	 * inserts would cause a deadlock.
	 */
	@Override
	protected String unlessTaken() {
		return " on duplicate key update name = name";
	}

	@Override
	protected String lockNoWait() {
		return " for update nowait";
	}

	@Override
	protected void check(JdbcOperations jdbc, String table) {
		int dot = table.indexOf('.');
		List<String> engines = jdbc.query(
				"select engine from information_schema.tables where table_name = ? and table_schema = "
						+ ((dot < 0) ? "database()" : "'" + table.substring(0, dot) + "'"),
				(rs, rowNum) -> String.valueOf(rs.getString(1)), table.substring(dot + 1));
		if (engines.stream().anyMatch((engine) -> !"InnoDB".equalsIgnoreCase(engine))) {
			throw new UnusableTaskStoreException(
					"the table %s of the durable tasks has the storage engine %s, which has no transactions"
						.formatted(table, engines),
					"change the storage engine: alter table %s engine = InnoDB".formatted(table));
		}
	}

}
