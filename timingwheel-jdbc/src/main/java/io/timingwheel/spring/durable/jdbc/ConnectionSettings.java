package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/** The settings with which a data source gives its connections. */
record ConnectionSettings(DataSource dataSource, Dialect dialect, boolean autoCommit, boolean readCommitted) {

	static ConnectionSettings read(DataSource dataSource, @Nullable Dialect given) {
		DataSource target = target(dataSource);
		try (Connection connection = target.getConnection()) {
			Dialect dialect = (given != null) ? given : Dialect.of(connection);
			checkWritable(connection, connection.isReadOnly());
			return new ConnectionSettings(target, dialect, connection.getAutoCommit(),
					connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException("Failed to connect to the database of the durable tasks", ex);
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

	// Its options may have a password.
	static String withoutOptions(@Nullable String url) {
		return String.valueOf(url).split("[?;]", 2)[0];
	}

	// Another data source of the same kind that cannot be asked.
	ConnectionSettings unknown(DataSource other) {
		return new ConnectionSettings(target(other), this.dialect, false, false);
	}

	private static DataSource target(DataSource dataSource) {
		return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
				? proxy.getTargetDataSource() : dataSource;
	}

}
