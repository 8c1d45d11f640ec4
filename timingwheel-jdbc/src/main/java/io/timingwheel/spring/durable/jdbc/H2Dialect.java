package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.TreeSet;

import io.timingwheel.spring.durable.UnusableTaskStoreException;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The dialect of H2. The usual functions for the time of H2 do not change within a
 * transaction. The time of a server is therefore the start of the statement that asks for
 * the time, as H2 shows it in the list of its sessions. The statement runs on the
 * connection of the caller: a second connection may not be free.
 */
final class H2Dialect extends PortableDialect {

	/**
	 * The names are in capitals, as H2 has them also if it does not change the names in a
	 * statement.
	 */
	private static final String NOW = "select cast(floor(extract(epoch from EXECUTING_STATEMENT_START) * 1000) as bigint)"
			+ " from INFORMATION_SCHEMA.SESSIONS where SESSION_ID = session_id()";

	/** The compatibility modes in which H2 runs all statements. */
	private static final Set<String> MODES = new TreeSet<>(
			Set.of("REGULAR", "LEGACY", "DB2", "HSQLDB", "MariaDB", "MySQL", "PostgreSQL"));

	private final boolean server;

	/**
	 * Refuses a compatibility mode that changes the SQL of the statements or what they
	 * do. For example, in the mode Oracle an empty text is null, and the mode STRICT does
	 * not know "limit". The names are in capitals, since H2 may have been told to leave
	 * names as they are.
	 */
	static void checkMode(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet mode = statement.executeQuery(
						"SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'MODE'")) {
			if (mode.next() && !MODES.contains(mode.getString(1))) {
				throw new UnusableTaskStoreException(
						"the H2 database has the compatibility mode %s, which changes the SQL of the durable tasks"
							.formatted(mode.getString(1)),
						("remove MODE from the URL of the database, or use one of the modes %s. Or declare a DataSource for"
								+ " another database and qualify it with @TimingWheelDataSource")
							.formatted(String.join(", ", MODES)));
			}
		}
	}

	/**
	 * Creates the dialect.
	 * @param server whether the clock is that of an H2 server; {@code false} if H2 runs
	 * in this JVM and uses the clock of the JVM
	 */
	H2Dialect(boolean server) {
		this.server = server;
	}

	@Override
	long now(JdbcOperations jdbc) {
		return this.server ? number(jdbc, NOW) : System.currentTimeMillis();
	}

	@Override
	String nowExpression(StoreTime time) {
		return "cast(? as bigint)";
	}

	@Override
	long nowParameter(StoreTime time, JdbcOperations jdbc) {
		return time.now(this, jdbc);
	}

	/**
	 * H2 parses a statement each time. The parsing of a union of searches takes five
	 * times as long as the searches themselves.
	 */
	@Override
	boolean joinsNames() {
		return true;
	}

	@Override
	boolean countsAll() {
		return true;
	}

}
