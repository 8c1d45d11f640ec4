package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.TreeSet;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The dialect of H2. Its functions for the time do not change within a transaction, so
 * the time of a server is the start of the statement that asks for it. The names in its
 * statements are in capitals, as H2 has them whatever its settings.
 */
final class H2Dialect extends Dialect {

	private static final String CLOCK = """
			(select cast(floor(extract(epoch from EXECUTING_STATEMENT_START) * 1000) as bigint)
				from INFORMATION_SCHEMA.SESSIONS where SESSION_ID = session_id())""";

	private static final Set<String> MODES = new TreeSet<>(
			Set.of("REGULAR", "LEGACY", "DB2", "HSQLDB", "MariaDB", "MySQL", "PostgreSQL"));

	private static final Log logger = LogFactory.getLog(H2Dialect.class);

	private H2Dialect() {
		super("H2", Schema.script("h2"));
	}

	// In the mode Oracle, for example, an empty text is null.
	static H2Dialect of(Connection connection) throws SQLException {
		checkVersion(connection, "H2", 2, 2);
		String mode = setting(connection, "MODE");
		if (!MODES.contains(mode)) {
			throw new UnusableTaskStoreException(
					"the H2 database has the compatibility mode %s, which changes the SQL of the durable tasks"
						.formatted(mode),
					("remove MODE from the URL of the database, or use one of the modes %s. Or declare a DataSource for"
							+ " another database and qualify it with @TimingWheelDataSource")
						.formatted(String.join(", ", MODES)));
		}
		boolean isFile = !query(connection, "SELECT DATABASE_PATH()").equals("null");
		if (isFile && !setting(connection, "WRITE_DELAY").equals("0")) {
			logger.warn("The H2 database " + connection.getMetaData().getURL() + " writes committed changes with a"
					+ " delay: a crash loses the durable tasks that were stored in this time. Append ;WRITE_DELAY=0 to"
					+ " its URL.");
		}
		return new H2Dialect();
	}

	private static String setting(Connection connection, String name) {
		return query(connection, "SELECT MAX(SETTING_VALUE) FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = ?",
				name);
	}

	@Override
	protected String clock() {
		return CLOCK;
	}

}
