package io.timingwheel.spring.durable.jdbc;

import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that the calling thread has on the application's data source, whatever
 * its transaction manager, and whatever proxy wraps the data source. As a transaction
 * manager it takes part in this transaction, and makes savepoints in it.
 */
final class ApplicationTransaction extends DataSourceTransactionManager {

	private ApplicationTransaction(DataSource bound) {
		super(bound);
	}

	/** During {@code afterCommit} the transaction is still the current one. */
	static @Nullable ApplicationTransaction current(DataSource application) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		for (Object key : TransactionSynchronizationManager.getResourceMap().keySet()) {
			if (key instanceof DataSource bound && unwrap(bound) == unwrap(application)) {
				ApplicationTransaction transaction = new ApplicationTransaction(bound);
				if (transaction.isActive()) {
					// Spring keeps one of several that are equal.
					TransactionSynchronizationManager.registerSynchronization(new LateCommit(bound));
					return transaction;
				}
			}
		}
		return null;
	}

	static DataSource unwrap(DataSource dataSource) {
		DataSource result = dataSource;
		while (result instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			result = proxy.getTargetDataSource();
		}
		return result;
	}

	/**
	 * Whether the connection that is bound to the thread is in a transaction. A
	 * transaction on another resource also binds connections, which nobody commits.
	 * Spring marks their holders as synchronized with the transaction, and also that of a
	 * JDBC transaction, but not that of JPA.
	 */
	private boolean isActive() {
		if (!(TransactionSynchronizationManager.getResource(obtainDataSource()) instanceof ConnectionHolder holder)
				|| (holder.isSynchronizedWithTransaction() && !super.isExistingTransaction(doGetTransaction()))) {
			return false;
		}
		try {
			return !holder.getConnection().getAutoCommit();
		}
		catch (IllegalStateException ex) {
			// The connection has been returned.
			return false;
		}
		catch (SQLException ex) {
			return true;
		}
	}

	@Override
	protected boolean isExistingTransaction(Object transaction) {
		return true;
	}

	/**
	 * Commits what was stored after the commit of the transaction. Nobody else does: the
	 * connection is still bound to the thread, and a pool may roll it back.
	 */
	private record LateCommit(DataSource bound) implements TransactionSynchronization {

		// Before others learn that what they have stored is certain.
		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCompletion(int status) {
			if (status == STATUS_COMMITTED && new ApplicationTransaction(this.bound).isActive()) {
				new JdbcTemplate(this.bound).execute((ConnectionCallback<Boolean>) (connection) -> {
					connection.commit();
					return true;
				});
			}
		}

	}

}
