package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;
import java.util.function.Function;

import javax.sql.DataSource;

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
 */
record ConnectionSettings(DataSource dataSource, Platform platform, int major, int minor, String url,
		boolean autoCommit, boolean readCommitted) {

	private static final String FAILED = "Failed to connect to the database of the durable tasks";

	static ConnectionSettings read(DataSource dataSource) {
		DataSource target = target(dataSource);
		try (Connection connection = connect(target)) {
			DatabaseMetaData metaData = connection.getMetaData();
			Platform platform = Platform.of(metaData.getDatabaseProductName(), metaData.getDatabaseProductVersion());
			return new ConnectionSettings(target, platform, metaData.getDatabaseMajorVersion(),
					metaData.getDatabaseMinorVersion(), String.valueOf(metaData.getURL()), connection.getAutoCommit(),
					connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException(FAILED, ex);
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
		return new ConnectionSettings(target(other), this.platform, this.major, this.minor, this.url, false, false);
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
			case H2 -> new H2Dialect(isShared());
			case POSTGRESQL -> new PostgresDialect();
			case MARIADB, MYSQL -> new MySqlDialect();
		};
	}

	/**
	 * Whether H2 runs in another process, or lets other processes use its files.
	 */
	boolean isShared() {
		String text = this.url.toLowerCase(Locale.ROOT);
		return text.startsWith("jdbc:h2:tcp:") || text.startsWith("jdbc:h2:ssl:") || text.contains("auto_server=true");
	}

}
