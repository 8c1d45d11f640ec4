package io.timingwheel.spring.durable.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds the transaction of the calling thread on the application's database, whichever
 * transaction manager began it, and behind whichever proxies.
 */
final class ApplicationTransaction {

	private final DataSource dataSource;

	ApplicationTransaction(DataSource dataSource) {
		this.dataSource = unwrap(dataSource);
	}

	/**
	 * The current transaction.
	 * @return runs statements in it, {@code null} if there is none
	 */
	@Nullable JdbcOperations current() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			return null;
		}
		for (Object key : TransactionSynchronizationManager.getResourceMap().keySet()) {
			if (key instanceof DataSource bound && unwrap(bound) == this.dataSource && inTransaction(bound)) {
				return new JdbcTemplate(bound);
			}
		}
		return null;
	}

	/**
	 * Within a transaction on something else, a connection may be bound all the same: it
	 * commits each statement, or has been given back.
	 */
	private static boolean inTransaction(DataSource bound) {
		try {
			return TransactionSynchronizationManager.getResource(bound) instanceof ConnectionHolder holder
					&& !holder.getConnection().getAutoCommit();
		}
		catch (IllegalStateException ex) {
			return false;
		}
		catch (SQLException ex) {
			return true;
		}
	}

	private static DataSource unwrap(DataSource dataSource) {
		DataSource result = dataSource;
		while (result instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			result = proxy.getTargetDataSource();
		}
		return result;
	}

}
