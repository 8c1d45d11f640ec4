package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Finds the transaction that the calling thread has on the application's data source. Any
 * transaction manager may have begun the transaction, and any proxy may wrap the data
 * source.
 */
final class ApplicationTransaction {

	private final DataSource dataSource;

	private final Function<DataSource, JdbcTemplate> statements;

	/**
	 * Creates the access to the transaction of the calling thread.
	 * @param dataSource the application's data source
	 * @param statements creates the access that runs the statements
	 */
	ApplicationTransaction(DataSource dataSource, Function<DataSource, JdbcTemplate> statements) {
		this.dataSource = unwrap(dataSource);
		this.statements = statements;
	}

	/**
	 * The data source without its proxies.
	 */
	DataSource dataSource() {
		return this.dataSource;
	}

	/**
	 * The current transaction. During {@code afterCommit} of its synchronizations it is
	 * still the current one, and what is stored there is committed at its end. During
	 * {@code afterCompletion} there is none.
	 * @return the access that runs statements in the transaction, {@code null} if there
	 * is no transaction
	 */
	@Nullable JdbcOperations current() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		for (Object key : TransactionSynchronizationManager.getResourceMap().keySet()) {
			if (key instanceof DataSource bound && unwrap(bound) == this.dataSource && inTransaction(bound)) {
				JdbcTemplate jdbc = this.statements.apply(bound);
				joined(jdbc);
				return jdbc;
			}
		}
		return null;
	}

	private void joined(JdbcTemplate jdbc) {
		Joined joined = (Joined) TransactionSynchronizationManager.getResource(this);
		if (joined == null) {
			joined = new Joined(this, jdbc);
			TransactionSynchronizationManager.registerSynchronization(joined);
			joined.resume();
		}
		joined.use();
	}

	/**
	 * Whether the transaction of the thread is one of the connection that is bound. A
	 * transaction on another resource also binds the connections that are used in it.
	 * Nobody commits such a connection, even if it does not commit by itself. Spring
	 * marks its holder as synchronized with the transaction, and so does the manager that
	 * begins a JDBC transaction on a connection. A manager of JPA only exposes its
	 * connection, in a holder without this mark.
	 */
	private static boolean inTransaction(DataSource bound) {
		if (!(TransactionSynchronizationManager.getResource(bound) instanceof ConnectionHolder holder)) {
			return false;
		}
		if (holder.isSynchronizedWithTransaction() && !new BoundTransaction(bound).exists()) {
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

	/**
	 * Runs statements in the caller's transaction. Either all statements take effect or
	 * none. The caller may go on after an exception, and commit.
	 */
	static <T> T allOrNone(JdbcOperations transaction, Supplier<T> statements) {
		return transaction.execute((ConnectionCallback<T>) (connection) -> {
			Savepoint savepoint = setSavepoint(connection);
			T result;
			try {
				result = statements.get();
			}
			catch (RuntimeException | Error ex) {
				undo(connection, savepoint, ex);
				throw ex;
			}
			if (savepoint != null) {
				connection.releaseSavepoint(savepoint);
			}
			return result;
		});
	}

	/**
	 * Sets a savepoint, unless the driver refuses: some do within a global transaction.
	 */
	private static @Nullable Savepoint setSavepoint(Connection connection) {
		try {
			return connection.setSavepoint();
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * Goes back to the savepoint. A database that has rolled back the whole transaction
	 * no longer has the savepoint.
	 */
	private static void undo(Connection connection, @Nullable Savepoint savepoint, Throwable cause) {
		try {
			if (savepoint != null) {
				connection.rollback(savepoint);
			}
		}
		catch (SQLException ex) {
			cause.addSuppressed(ex);
		}
	}

	private static DataSource unwrap(DataSource dataSource) {
		DataSource result = dataSource;
		while (result instanceof DelegatingDataSource proxy && proxy.getTargetDataSource() != null) {
			result = proxy.getTargetDataSource();
		}
		return result;
	}

	/**
	 * Commits what was stored after the commit of the transaction that it has joined. The
	 * connection is then still bound to the thread, but nobody else commits it: a pool
	 * may roll it back.
	 */
	private static final class Joined implements TransactionSynchronization {

		private final Object key;

		private final JdbcTemplate jdbc;

		private boolean completing;

		/** Whether a call has come too late to be sure of the commit. */
		private boolean late;

		Joined(Object key, JdbcTemplate jdbc) {
			this.key = key;
			this.jdbc = jdbc;
		}

		void use() {
			this.late |= this.completing;
		}

		/**
		 * Before others learn that what they have stored is certain.
		 */
		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public void suspend() {
			TransactionSynchronizationManager.unbindResourceIfPossible(this.key);
		}

		@Override
		public void resume() {
			TransactionSynchronizationManager.bindResource(this.key, this);
		}

		@Override
		public void beforeCompletion() {
			this.completing = true;
		}

		@Override
		public void afterCompletion(int status) {
			suspend();
			// Spring tells only those of the completion that joined before.
			if (status == STATUS_COMMITTED && (this.late || !this.completing)) {
				this.jdbc.execute((ConnectionCallback<Boolean>) (connection) -> {
					connection.commit();
					return true;
				});
			}
		}

	}

	/**
	 * Tells whether a transaction manager has begun a transaction on the connection that
	 * is bound for a data source.
	 */
	private static final class BoundTransaction extends DataSourceTransactionManager {

		BoundTransaction(DataSource dataSource) {
			super(dataSource);
		}

		boolean exists() {
			return isExistingTransaction(doGetTransaction());
		}

	}

}
