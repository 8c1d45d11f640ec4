package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import java.util.function.Function;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.UnusableTaskStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * The database that a data source leads to, and the settings with which the data source
 * gives its connections.
 *
 * @param dataSource the data source
 * @param platform the kind of database
 * @param major the major version of the database
 * @param minor the minor version of the database
 * @param url the URL of the connections
 * @param autoCommit whether a connection commits each statement
 * @param readCommitted whether the isolation of a connection is "read committed"
 * @param encoding the characters that the database can store
 */
record ConnectionSettings(DataSource dataSource, Platform platform, int major, int minor, String url,
		boolean autoCommit, boolean readCommitted, TextEncoding encoding) {

	private static final String FAILED = "Failed to connect to the database of the durable tasks";

	/**
	 * A character that one-byte encodings do not have, and its UTF-8 as MySQL writes it.
	 */
	private static final String ARROW = "\u2192";

	private static final String ARROW_IN_UTF8 = "E28692";

	/**
	 * Connects to the database to read the settings.
	 * @throws UnusableTaskStoreException if the connections cannot keep tasks
	 */
	static ConnectionSettings read(DataSource dataSource) {
		DataSource target = target(dataSource);
		try (Connection connection = connect(target)) {
			DatabaseMetaData metaData = connection.getMetaData();
			Platform platform = Platform.of(metaData.getDatabaseProductName(), metaData.getDatabaseProductVersion());
			platform.checkVersion(metaData.getDatabaseMajorVersion(), metaData.getDatabaseMinorVersion());
			boolean readOnly = connection.isReadOnly();
			TextEncoding encoding = TextEncoding.UNICODE;
			switch (platform) {
				case POSTGRESQL -> {
					encoding = TextEncoding.ofPostgres(query(connection, "select current_setting('server_encoding')"));
					readOnly |= "on".equals(query(connection, "select current_setting('transaction_read_only')"));
				}
				case MARIADB, MYSQL -> checkText(connection);
				case H2 -> H2Dialect.checkMode(connection);
			}
			checkWritable(readOnly, metaData.getURL());
			return new ConnectionSettings(target, platform, metaData.getDatabaseMajorVersion(),
					metaData.getDatabaseMinorVersion(), String.valueOf(metaData.getURL()), connection.getAutoCommit(),
					connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED, encoding);
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException(FAILED, ex);
		}
	}

	private static void checkWritable(boolean readOnly, @Nullable String url) {
		if (readOnly) {
			throw new UnusableTaskStoreException("the connections of %s are read-only".formatted(withoutOptions(url)),
					"remove the option that makes them read-only, such as spring.datasource.hikari.read-only, or connect"
							+ " to the primary server");
		}
	}

	/**
	 * Checks that the server gets texts as they are. A driver that was told to use
	 * another encoding replaces characters, without an error.
	 */
	private static void checkText(Connection connection) throws SQLException {
		String bytes = query(connection, "select hex(convert(? using utf8mb4))", ARROW);
		if (!ARROW_IN_UTF8.equals(bytes)) {
			throw new UnusableTaskStoreException(
					"the connections of %s change the texts that they send, so that durable tasks would get other arguments"
						.formatted(withoutOptions(connection.getMetaData().getURL())),
					"let them use UTF-8: remove characterEncoding from the URL, and a \"set names\" for another encoding");
		}
	}

	/**
	 * The URL for a message. Its options may have a password.
	 */
	private static String withoutOptions(@Nullable String url) {
		return String.valueOf(url).split("[?;]", 2)[0];
	}

	private static String query(Connection connection, String sql, String... parameters) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			for (int i = 0; i < parameters.length; i++) {
				statement.setString(i + 1, parameters[i]);
			}
			try (ResultSet result = statement.executeQuery()) {
				result.next();
				return String.valueOf(result.getString(1));
			}
		}
	}

	/**
	 * A data source that chooses the database by the caller may throw any exception if it
	 * cannot choose.
	 */
	private static Connection connect(DataSource dataSource) throws SQLException {
		try {
			return dataSource.getConnection();
		}
		catch (RuntimeException ex) {
			CannotGetJdbcConnectionException failure = new CannotGetJdbcConnectionException(FAILED);
			failure.initCause(ex);
			throw failure;
		}
	}

	/**
	 * The settings of another data source that leads to the same kind of database and
	 * cannot be asked. Nothing is assumed about its connections.
	 */
	ConnectionSettings unknown(DataSource other) {
		return new ConnectionSettings(target(other), this.platform, this.major, this.minor, this.url, false, false,
				this.encoding);
	}

	private static DataSource target(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? proxy.getTargetDataSource() : dataSource;
	}

	ShortTransactions transactions() {
		return transactions(JdbcTemplate::new);
	}

	/**
	 * The access to the database.
	 * @param statements creates the access that runs the statements
	 */
	ShortTransactions transactions(Function<DataSource, JdbcTemplate> statements) {
		String isolation = (this.readCommitted || this.platform == Platform.H2) ? null
				: "set transaction isolation level read committed";
		return new ShortTransactions(this.dataSource, statements, this.platform.product(),
				this.autoCommit && this.readCommitted, isolation);
	}

	Dialect dialect() {
		return switch (this.platform) {
			case H2 -> new H2Dialect(isServer());
			case POSTGRESQL -> new PostgresDialect(this.encoding);
			case MARIADB, MYSQL -> new MySqlDialect();
		};
	}

	/**
	 * Whether H2 keeps the data in the memory of this process.
	 */
	boolean isInMemory() {
		return this.url.toLowerCase(Locale.ROOT).startsWith("jdbc:h2:mem:");
	}

	/**
	 * Whether H2 runs in a server, perhaps on another machine. Several processes of one
	 * machine may share the files of a database (AUTO_SERVER), and then have one clock.
	 */
	boolean isServer() {
		String text = this.url.toLowerCase(Locale.ROOT);
		return text.startsWith("jdbc:h2:tcp:") || text.startsWith("jdbc:h2:ssl:");
	}

}
