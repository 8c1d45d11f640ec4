package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;

import javax.sql.DataSource;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * What the connections of a data source are like.
 *
 * @param dataSource where they come from
 * @param url to where they lead
 * @param autoCommit whether they commit each statement, unless told otherwise
 * @param readCommitted whether they read what is committed, unless told otherwise
 */
record ConnectionSettings(DataSource dataSource, Platform platform, int major, int minor, String url,
		boolean autoCommit, boolean readCommitted) {

	static ConnectionSettings read(DataSource dataSource) {
		DataSource target = dataSource;
		if (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null) {
			target = proxy.getTargetDataSource();
		}
		try (Connection connection = target.getConnection()) {
			DatabaseMetaData metaData = connection.getMetaData();
			Platform platform = Platform.of(metaData.getDatabaseProductName(), metaData.getDatabaseProductVersion());
			return new ConnectionSettings(target, platform, metaData.getDatabaseMajorVersion(),
					metaData.getDatabaseMinorVersion(), String.valueOf(metaData.getURL()), connection.getAutoCommit(),
					connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
		}
		catch (SQLException ex) {
			throw new CannotGetJdbcConnectionException("Failed to look at the database of the durable tasks", ex);
		}
	}

	ShortTransactions transactions() {
		String isolation = (this.readCommitted || this.platform == Platform.H2) ? null
				: "set transaction isolation level read committed";
		return new ShortTransactions(this.dataSource, this.platform.product(), this.autoCommit && this.readCommitted,
				isolation);
	}

	Dialect dialect() {
		return switch (this.platform) {
			case H2 -> isShared() ? new H2Dialect(transactions()) : new H2Dialect();
			case POSTGRESQL -> new PostgresDialect();
			case MARIADB, MYSQL -> new MySqlDialect();
		};
	}

	/**
	 * Whether H2 serves other processes, or is one.
	 */
	boolean isShared() {
		String text = this.url.toLowerCase(Locale.ROOT);
		return text.startsWith("jdbc:h2:tcp:") || text.startsWith("jdbc:h2:ssl:") || text.contains("auto_server=true");
	}

}
