package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * The settings with which a data source gives its connections.
 *
 * @param dataSource the data source
 * @param dialect the dialect of its database
 * @param autoCommit whether a connection commits each statement
 * @param readCommitted whether the isolation of a connection is "read committed"
 */
record ConnectionSettings(DataSource dataSource, Dialect dialect, boolean autoCommit, boolean readCommitted) {

	private static final String FAILED = "Failed to connect to the database of the durable tasks";

	/**
	 * Connects to the database to read the settings.
	 * @param given the dialect, {@code null} to find it out
	 * @throws UnusableTaskStoreException if the connections cannot keep tasks
	 */
	static ConnectionSettings read(DataSource dataSource, @Nullable Dialect given) {
		DataSource target = target(dataSource);
		try (Connection connection = connect(target)) {
			Dialect dialect = (given != null) ? given : Dialect.of(connection);
			checkWritable(connection, connection.isReadOnly());
			return new ConnectionSettings(target, dialect, connection.getAutoCommit(),
					connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException(FAILED, ex);
		}
	}

	static void checkWritable(Connection connection, boolean readOnly) throws SQLException {
		if (readOnly) {
			throw new UnusableTaskStoreException(
					"the connections of %s are read-only".formatted(withoutOptions(connection.getMetaData().getURL())),
					"remove the option that makes them read-only, such as spring.datasource.hikari.read-only, or connect"
							+ " to the primary server");
		}
	}

	/**
	 * The URL for a message. Its options may have a password.
	 */
	static String withoutOptions(@Nullable String url) {
		return String.valueOf(url).split("[?;]", 2)[0];
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
			throw noConnection(FAILED, ex);
		}
	}

	static CannotGetJdbcConnectionException noConnection(String message, RuntimeException cause) {
		CannotGetJdbcConnectionException failure = new CannotGetJdbcConnectionException(message);
		failure.initCause(cause);
		return failure;
	}

	/**
	 * The settings of another data source that leads to the same kind of database and
	 * cannot be asked. Nothing is assumed about its connections.
	 */
	ConnectionSettings unknown(DataSource other) {
		return new ConnectionSettings(target(other), this.dialect, false, false);
	}

	private static DataSource target(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? proxy.getTargetDataSource() : dataSource;
	}

}
