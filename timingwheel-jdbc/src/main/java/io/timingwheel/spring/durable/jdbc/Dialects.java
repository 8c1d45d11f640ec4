package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** The dialects of the databases that this library knows. */
final class Dialects {

	private static final Log logger = LogFactory.getLog(Dialects.class);

	private Dialects() {
	}

	static Dialect of(Connection connection) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		String product = String.valueOf(database.getDatabaseProductName());
		return switch (product.toLowerCase(Locale.ROOT)) {
			case "h2" -> H2.of(connection);
			case "postgresql" -> Postgres.of(connection);
			case "mariadb", "mysql" -> new MySql();
			default -> throw new UnusableTaskStoreException(
					"durable tasks can be kept in H2, PostgreSQL, MariaDB and MySQL, but not in %s %s"
						.formatted(product, database.getDatabaseProductVersion()),
					"declare a JdbcDelayedTaskStore bean with a DataSource for one of these, in which Schema.create has"
							+ " made the tables, or a Dialect bean for this database, or set timingwheel.store.type to redis or none");
		};
	}

	private static String query(Connection connection, String sql) {
		JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
		return String.valueOf(jdbc.queryForObject(sql, String.class));
	}

	/**
	 * Its functions for the time do not change within a transaction, so the time of a
	 * server is the start of the statement that asks for it. The names in its statements
	 * are in capitals, as H2 has them whatever its settings.
	 */
	private static final class H2 extends Dialect {

		private static final String WRITE_DELAY = "SELECT MAX(SETTING_VALUE) FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'";

		private H2() {
			super("H2", Schema.script("h2"));
		}

		static H2 of(Connection connection) throws SQLException {
			boolean isFile = !query(connection, "SELECT DATABASE_PATH()").equals("null");
			if (isFile && !query(connection, WRITE_DELAY).equals("0")) {
				logger.warn("The H2 database " + connection.getMetaData().getURL() + " writes committed changes with a"
						+ " delay: a crash loses the durable tasks that were stored in this time. Append"
						+ " ;WRITE_DELAY=0 to its URL.");
			}
			return new H2();
		}

		@Override
		protected String clock() {
			return """
					(select cast(floor(extract(epoch from EXECUTING_STATEMENT_START) * 1000) as bigint)
						from INFORMATION_SCHEMA.SESSIONS where SESSION_ID = session_id())""";
		}

		/**
		 * To put rows into an order, H2 would lock all of them. Without it, H2 reads the
		 * index for claims, which has this order.
		 */
		@Override
		protected String lockFirst(String columns, String condition, int limit) {
			return super.lockFirst(columns, condition.replace(Claiming.FIRST, ""), limit);
		}

	}

	/** MariaDB and MySQL. The time is read in UTC, in which no second comes twice. */
	private static final class MySql extends Dialect {

		private MySql() {
			super("MySQL", Schema.script("mysql"));
		}

		@Override
		protected String clock() {
			return "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000";
		}

		/** Two inserts that fail would keep shared locks, and cause a deadlock. */
		@Override
		protected String unlessTaken() {
			return " on duplicate key update name = name";
		}

		@Override
		protected String lockNoWait() {
			return " for update nowait";
		}

	}

	static final class Postgres extends Dialect {

		/** With SQL_ASCII the database keeps the driver's bytes, which are UTF-8. */
		private static final Set<String> ENCODINGS = Set.of("UTF8", "SQL_ASCII");

		private Postgres() {
			super("PostgreSQL", Schema.script("postgresql"));
		}

		static Postgres of(Connection connection) {
			String encoding = query(connection, "select current_setting('server_encoding')");
			if (!ENCODINGS.contains(encoding)) {
				throw new UnusableTaskStoreException(
						"the database has the encoding %s, which does not have all characters that durable tasks may use"
							.formatted(encoding),
						"declare a JdbcDelayedTaskStore bean with a DataSource for a database that was created with the encoding"
								+ " UTF8, in which Schema.create has made the tables, or set timingwheel.store.type to redis or none");
			}
			return new Postgres();
		}

		@Override
		protected String clock() {
			return "floor(extract(epoch from statement_timestamp()) * 1000)::bigint";
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

}
