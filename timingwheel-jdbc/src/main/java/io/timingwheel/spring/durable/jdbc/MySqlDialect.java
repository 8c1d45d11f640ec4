package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

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
					"the connections change the texts that they send, so that durable tasks would get other arguments",
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

}
