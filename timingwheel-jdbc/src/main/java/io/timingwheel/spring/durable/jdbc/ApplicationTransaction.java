package io.timingwheel.spring.durable.jdbc;

import java.sql.SQLException;
import java.util.function.Function;

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
 * Finds the transaction that the calling thread has on the application's data source,
 * whatever its transaction manager, and whatever proxy wraps the data source.
 */
final class ApplicationTransaction {

	private final DataSource dataSource;

	private final Function<DataSource, JdbcTemplate> templates;

	ApplicationTransaction(DataSource dataSource, Function<DataSource, JdbcTemplate> templates) {
		this.dataSource = unwrap(dataSource);
		this.templates = templates;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	/** During {@code afterCommit} the transaction is still the current one. */
	@Nullable JdbcTemplate current() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		for (Object key : TransactionSynchronizationManager.getResourceMap().keySet()) {
			if (key instanceof DataSource bound && unwrap(bound) == this.dataSource
					&& new BoundConnection(bound).isInTransaction()) {
				JdbcTemplate jdbc = this.templates.apply(bound);
				join(jdbc);
				return jdbc;
			}
		}
		return null;
	}

	private void join(JdbcTemplate jdbc) {
		for (TransactionSynchronization synchronization : TransactionSynchronizationManager.getSynchronizations()) {
			if (synchronization instanceof LateCommit joined && joined.store == this) {
				joined.late |= joined.completing;
				return;
			}
		}
		TransactionSynchronizationManager.registerSynchronization(new LateCommit(this, jdbc));
	}

	private static DataSource unwrap(DataSource dataSource) {
		DataSource result = dataSource;
		while (result instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			result = proxy.getTargetDataSource();
		}
		return result;
	}

	/**
	 * The connection that is bound to the thread. A transaction on another resource also
	 * binds connections, which nobody commits. Spring marks their holders as synchronized
	 * with the transaction, and also that of a JDBC transaction, but not that of JPA.
	 */
	private static final class BoundConnection extends DataSourceTransactionManager {

		private final DataSource bound;

		BoundConnection(DataSource bound) {
			super(bound);
			this.bound = bound;
		}

		boolean isInTransaction() {
			if (!(TransactionSynchronizationManager.getResource(this.bound) instanceof ConnectionHolder holder)
					|| (holder.isSynchronizedWithTransaction() && !isExistingTransaction(doGetTransaction()))) {
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

	}

	/**
	 * Commits what was stored after the commit of the transaction. Nobody else does: the
	 * connection is still bound to the thread, and a pool may roll it back.
	 */
	private static final class LateCommit implements TransactionSynchronization {

		private final ApplicationTransaction store;

		private final JdbcTemplate jdbc;

		private boolean completing;

		private boolean late;

		LateCommit(ApplicationTransaction store, JdbcTemplate jdbc) {
			this.store = store;
			this.jdbc = jdbc;
		}

		// Before others learn that what they have stored is certain.
		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public void beforeCompletion() {
			this.completing = true;
		}

		@Override
		public void afterCompletion(int status) {
			// Spring tells only those of the completion that joined before.
			if (status == STATUS_COMMITTED && (this.late || !this.completing)) {
				this.jdbc.execute((ConnectionCallback<Boolean>) (connection) -> {
					connection.commit();
					return true;
				});
			}
		}

	}

}
