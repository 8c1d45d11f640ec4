package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;

/**
 * The database that keeps the tasks. Thread-safe.
 *
 * @param application short transactions on the application's data source
 * @param store short transactions on the store's data source
 */
record Database(Statements statements, Access application, Access store, ApplicationTransaction transaction) {

	Dialect dialect() {
		return this.statements.dialect();
	}

	/**
	 * The milliseconds since a reading of {@link System#nanoTime()}.
	 */
	long millisSince(long read) {
		return this.statements.isTimeGiven() ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read);
	}

	/**
	 * Runs what applications do.
	 */
	Access caller() {
		Access joined = joined();
		return (joined != null) ? joined : this.application;
	}

	/**
	 * Runs what nodes and operators do. If a test has set the clock, a transaction of the
	 * calling thread counts, so that a test that is rolled back sees its own tasks run.
	 */
	Access node() {
		Access joined = this.statements.isTimeGiven() ? joined() : null;
		return (joined != null) ? joined : this.store;
	}

	Session requiredTransaction() {
		Access joined = joined();
		Assert.state(joined != null, "The thread has no transaction on the DataSource of the application");
		return joined.session();
	}

	boolean isJoined(Session session) {
		return session != this.application.session();
	}

	private @Nullable Access joined() {
		JdbcTemplate jdbc = this.transaction.current();
		return (jdbc != null) ? new Access(new Session(jdbc, this.statements)) : null;
	}

	/**
	 * Runs statements, either in the transaction of the caller, which other code ends, or
	 * in short transactions of their own, which have the isolation "read committed" and
	 * run again after a collision with another transaction.
	 */
	static final class Access {

		private static final int ATTEMPTS = 20;

		private static final long MAX_PAUSE = Duration.ofMillis(10).toNanos();

		private static final long MAX_TIME = Duration.ofSeconds(5).toNanos();

		private final Session session;

		private final @Nullable TransactionTemplate transactions;

		private final boolean commitsEach;

		Access(Session session) {
			this.session = session;
			this.transactions = null;
			this.commitsEach = true;
		}

		Access(Settings settings, Statements statements) {
			// No transaction of the application is bound to this wrapper.
			DataSource own = new DelegatingDataSource(settings.dataSource());
			JdbcTemplate jdbc = settings.dialect().template(own);
			JdbcTransactionManager manager = new JdbcTransactionManager(own);
			manager.setExceptionTranslator(jdbc.getExceptionTranslator());
			this.session = new Session(jdbc, statements);
			this.transactions = new TransactionTemplate(manager);
			this.transactions.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			if (!settings.readCommitted()) {
				this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
			}
			this.commitsEach = settings.autoCommit() && settings.readCommitted();
		}

		Session session() {
			return this.session;
		}

		/**
		 * Runs one statement, or statements that need no common transaction.
		 */
		<T extends @Nullable Object> T single(Function<Session, T> statement) {
			return retried(() -> once(true, statement));
		}

		<T extends @Nullable Object> T transaction(Function<Session, T> statements) {
			return retried(() -> once(false, statements));
		}

		/**
		 * Runs statements in one transaction, and does not run them again after a
		 * collision. A single statement needs no transaction. But with synchronizations
		 * on the thread, a connection without a transaction would stay bound until they
		 * end.
		 */
		<T extends @Nullable Object> T once(boolean single, Function<Session, T> statements) {
			if (this.transactions == null
					|| (single && this.commitsEach && !TransactionSynchronizationManager.isSynchronizationActive())) {
				return statements.apply(this.session);
			}
			try {
				return this.transactions.execute((status) -> statements.apply(this.session));
			}
			catch (CannotCreateTransactionException ex) {
				// Without a connection a transaction fails as a single statement does.
				throw Settings.noConnection(String.valueOf(ex.getMessage()), ex);
			}
		}

		/**
		 * Runs statements that take effect all or not at all, so that the caller may
		 * commit its transaction after an exception.
		 */
		<T extends @Nullable Object> T allOrNone(Function<Session, T> statements) {
			return (this.transactions != null) ? transaction(statements) : this.session.jdbc()
				.execute((ConnectionCallback<T>) (connection) -> withSavepoint(connection, statements));
		}

		private <T extends @Nullable Object> T withSavepoint(Connection connection, Function<Session, T> statements)
				throws SQLException {
			Savepoint savepoint = savepoint(connection);
			try {
				T result = statements.apply(this.session);
				if (savepoint != null) {
					connection.releaseSavepoint(savepoint);
				}
				return result;
			}
			catch (RuntimeException | Error ex) {
				try {
					if (savepoint != null) {
						connection.rollback(savepoint);
					}
				}
				catch (SQLException suppressed) {
					// The database has rolled back the whole transaction.
					ex.addSuppressed(suppressed);
				}
				throw ex;
			}
		}

		// Some drivers refuse in a global transaction.
		private static @Nullable Savepoint savepoint(Connection connection) {
			try {
				return connection.setSavepoint();
			}
			catch (SQLException ex) {
				return null;
			}
		}

		private <T extends @Nullable Object> T retried(Supplier<T> attempt) {
			long start = System.nanoTime();
			for (int i = 1; this.transactions != null && i < ATTEMPTS; i++) {
				try {
					return attempt.get();
				}
				catch (ConcurrencyFailureException | DuplicateKeyException ex) {
					if (System.nanoTime() - start > MAX_TIME) {
						// This is not a short collision: another transaction holds a
						// lock.
						throw ex;
					}
					LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE));
				}
			}
			return attempt.get();
		}

	}

	/**
	 * The settings with which a data source gives its connections.
	 */
	record Settings(DataSource dataSource, Dialect dialect, boolean autoCommit, boolean readCommitted) {

		private static final String FAILED = "Failed to connect to the database of the durable tasks";

		static Settings read(DataSource dataSource, @Nullable Dialect given) {
			DataSource target = target(dataSource);
			try (Connection connection = connect(target)) {
				Dialect dialect = (given != null) ? given : Dialect.of(connection);
				checkWritable(connection, connection.isReadOnly());
				return new Settings(target, dialect, connection.getAutoCommit(),
						connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
			}
			catch (SQLException ex) {
				throw new CannotGetJdbcConnectionException(FAILED, ex);
			}
		}

		static void checkWritable(Connection connection, boolean readOnly) throws SQLException {
			if (readOnly) {
				throw new UnusableTaskStoreException(
						"the connections of %s are read-only"
							.formatted(withoutOptions(connection.getMetaData().getURL())),
						"remove the option that makes them read-only, such as spring.datasource.hikari.read-only, or connect"
								+ " to the primary server");
			}
		}

		// Its options may have a password.
		static String withoutOptions(@Nullable String url) {
			return String.valueOf(url).split("[?;]", 2)[0];
		}

		// A data source that chooses the database may throw any exception if it cannot.
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

		// Another data source of the same kind that cannot be asked.
		Settings unknown(DataSource other) {
			return new Settings(target(other), this.dialect, false, false);
		}

		private static DataSource target(DataSource dataSource) {
			return (dataSource instanceof TransactionAwareDataSourceProxy proxy && proxy.getTargetDataSource() != null)
					? proxy.getTargetDataSource() : dataSource;
		}

	}

}
