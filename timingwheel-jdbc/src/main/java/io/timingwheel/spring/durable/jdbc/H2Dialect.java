package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

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

	private static final String WRITE_DELAY = "SELECT MAX(SETTING_VALUE) FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'";

	private static final Log logger = LogFactory.getLog(H2Dialect.class);

	private H2Dialect() {
		super("H2", Schema.script("h2"));
	}

	static H2Dialect of(Connection connection) throws SQLException {
		checkVersion(connection, "H2", 2, 2);
		boolean isFile = !query(connection, "SELECT DATABASE_PATH()").equals("null");
		if (isFile && !query(connection, WRITE_DELAY).equals("0")) {
			logger.warn("The H2 database " + connection.getMetaData().getURL() + " writes committed changes with a"
					+ " delay: a crash loses the durable tasks that were stored in this time. Append ;WRITE_DELAY=0 to"
					+ " its URL.");
		}
		return new H2Dialect();
	}

	@Override
	protected String clock() {
		return CLOCK;
	}

}
