package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.jdbc.core.JdbcOperations;

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

	private final String url;

	private H2Dialect(String url) {
		super("H2", Schema.script("h2"));
		this.url = url;
	}

	// In the mode Oracle, for example, an empty text is null.
	static H2Dialect of(Connection connection) throws SQLException {
		checkVersion(connection, "H2", 2, 2);
		String mode = query(connection,
				"SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'MODE'");
		if (!MODES.contains(mode)) {
			throw new UnusableTaskStoreException(
					"the H2 database has the compatibility mode %s, which changes the SQL of the durable tasks"
						.formatted(mode),
					("remove MODE from the URL of the database, or use one of the modes %s. Or declare a DataSource for"
							+ " another database and qualify it with @TimingWheelDataSource")
						.formatted(String.join(", ", MODES)));
		}
		return new H2Dialect(String.valueOf(connection.getMetaData().getURL()));
	}

	// Processes that share the files of a database (AUTO_SERVER) have one clock.
	private boolean isServer() {
		String text = this.url.toLowerCase(Locale.ROOT);
		return text.startsWith("jdbc:h2:tcp:") || text.startsWith("jdbc:h2:ssl:");
	}

	@Override
	protected String clock() {
		return CLOCK;
	}

	@Override
	protected long now(JdbcOperations jdbc) {
		return isServer() ? super.now(jdbc) : System.currentTimeMillis();
	}

	@Override
	protected void check(JdbcOperations jdbc, String table) {
		List<String> delays = jdbc
			.query("SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'"
					+ " AND DATABASE_PATH() IS NOT NULL", (rs, rowNum) -> String.valueOf(rs.getString(1)));
		if (delays.stream().anyMatch((delay) -> !delay.equals("0"))) {
			logger.warn("The H2 database " + this.url + " writes committed changes with a delay of " + delays
					+ " ms: a crash loses the durable tasks that were stored in this time. Append ;WRITE_DELAY=0 to its URL.");
		}
	}

}
