package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.SQLErrorCodeSQLExceptionTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs statements in separate transactions. These are independent of any transaction of
 * the application, and have the isolation "read committed". After a collision with
 * another transaction, the statements run again.
 *
 * <p>
 * In virtual time the statements may run in the transaction of a test instead.
 */
final class ShortTransactions {

	private static final int ATTEMPTS = 20;

	private static final long MAX_PAUSE = Duration.ofMillis(10).toNanos();

	private static final long MAX_TIME = Duration.ofSeconds(5).toNanos();

	private static final long MAX_LOCK_TIME = Duration.ofMinutes(1).toNanos();

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	/**
	 * Without synchronizations: otherwise other statements on this thread would take part
	 * in the transaction, and would not commit.
	 */
	private final TransactionTemplate locks;

	private final boolean autoCommit;

	private final @Nullable ApplicationTransaction joined;

	/**
	 * Creates the access to a database.
	 * @param dataSource gives the connections
	 * @param statements creates the access that runs the statements
	 * @param product the database's name in Spring's list of error codes
	 * @param autoCommit whether the connections commit each statement, and have the
	 * isolation "read committed"
	 * @param isolation the statement that sets this isolation, {@code null} if it is not
	 * needed
	 */
	ShortTransactions(DataSource dataSource, Function<DataSource, JdbcTemplate> statements, String product,
			boolean autoCommit, @Nullable String isolation) {
		// This wrapper has an identity of its own, so no transaction of the application
		// is bound to it.
		DataSource own = new DelegatingDataSource(dataSource);
		SQLExceptionTranslator translator = new SQLErrorCodeSQLExceptionTranslator(product);
		this.jdbc = statements.apply(own);
		this.jdbc.setExceptionTranslator(translator);
		this.transactions = new TransactionTemplate(manager(own, isolation, translator));
		this.transactions.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		ReadCommitted ofLocks = manager(own, isolation, translator);
		ofLocks.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		this.locks = new TransactionTemplate(ofLocks);
		this.autoCommit = autoCommit;
		this.joined = null;
	}

	private ShortTransactions(ShortTransactions other, ApplicationTransaction joined) {
		this.jdbc = other.jdbc;
		this.transactions = other.transactions;
		this.locks = other.locks;
		this.autoCommit = other.autoCommit;
		this.joined = joined;
	}

	private static ReadCommitted manager(DataSource dataSource, @Nullable String isolation,
			SQLExceptionTranslator translator) {
		ReadCommitted manager = new ReadCommitted(dataSource, isolation);
		manager.setExceptionTranslator(translator);
		return manager;
	}

	/**
	 * Creates an access that runs statements in the transaction of the calling thread, if
	 * there is one.
	 */
	ShortTransactions joining(ApplicationTransaction application) {
		return new ShortTransactions(this, application);
	}

	/**
	 * Runs a statement, or statements that need no common transaction.
	 */
	<T extends @Nullable Object> T single(Function<JdbcOperations, T> statement) {
		JdbcOperations current = current();
		if (current != null) {
			return statement.apply(current);
		}
		if (this.autoCommit && !TransactionSynchronizationManager.isSynchronizationActive()) {
			return retried(() -> statement.apply(this.jdbc));
		}
		return transaction((jdbc, status) -> statement.apply(jdbc));
	}

	/**
	 * Runs statements in a transaction.
	 */
	<T extends @Nullable Object> T transaction(Work<T> work) {
		JdbcOperations current = current();
		if (current != null) {
			return work.run(current, new JoinedTransaction(current));
		}
		return retried(() -> execute((status) -> work.run(this.jdbc, status)));
	}

	/**
	 * Runs statements in a transaction, and does not run them again after a collision.
	 * @param single whether there is only one statement
	 */
	<T extends @Nullable Object> T once(boolean single, Function<JdbcOperations, T> statements) {
		JdbcOperations current = current();
		if (current != null) {
			return statements.apply(current);
		}
		if (single && this.autoCommit && !TransactionSynchronizationManager.isSynchronizationActive()) {
			return statements.apply(this.jdbc);
		}
		return execute((status) -> statements.apply(this.jdbc));
	}

	/**
	 * Runs an action while a transaction holds a lock. Waits at most a minute for the
	 * lock.
	 * @param lock takes the lock
	 * @param action what to do; uses other connections
	 */
	void whileLocked(Consumer<JdbcOperations> lock, Runnable action) {
		long start = System.nanoTime();
		boolean[] locked = new boolean[1];
		while (true) {
			try {
				this.locks.executeWithoutResult((status) -> {
					lock.accept(this.jdbc);
					locked[0] = true;
					action.run();
				});
				return;
			}
			catch (ConcurrencyFailureException | DuplicateKeyException ex) {
				if (locked[0] || System.nanoTime() - start > MAX_LOCK_TIME) {
					throw ex;
				}
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE));
			}
		}
	}

	/**
	 * Runs statements in a new transaction. A transaction for which there is no
	 * connection fails as a single statement does.
	 */
	private <T extends @Nullable Object> T execute(TransactionCallback<T> statements) {
		try {
			return this.transactions.execute(statements);
		}
		catch (CannotCreateTransactionException ex) {
			CannotGetJdbcConnectionException failure = new CannotGetJdbcConnectionException(
					String.valueOf(ex.getMessage()));
			failure.initCause(ex);
			throw failure;
		}
	}

	private @Nullable JdbcOperations current() {
		return (this.joined != null) ? this.joined.current() : null;
	}

	private static <T extends @Nullable Object> T retried(Attempt<T> attempt) {
		long start = System.nanoTime();
		for (int i = 1; i < ATTEMPTS; i++) {
			try {
				return attempt.run();
			}
			catch (ConcurrencyFailureException | DuplicateKeyException ex) {
				if (System.nanoTime() - start > MAX_TIME) {
					// This is not a short collision: another transaction holds a lock.
					throw ex;
				}
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE));
			}
		}
		return attempt.run();
	}

	/**
	 * The statements of a transaction.
	 */
	interface Work<T extends @Nullable Object> {

		T run(JdbcOperations jdbc, TransactionStatus status) throws DataAccessException;

	}

	private interface Attempt<T extends @Nullable Object> {

		T run();

	}

	/**
	 * Sets the isolation of a transaction by one statement. JDBC's own method takes more
	 * requests: the driver asks for the earlier isolation, and sets it again afterwards.
	 */
	private static final class ReadCommitted extends JdbcTransactionManager {

		private final @Nullable String isolation;

		ReadCommitted(DataSource dataSource, @Nullable String isolation) {
			super(dataSource);
			this.isolation = isolation;
		}

		@Override
		protected void prepareTransactionalConnection(Connection connection, TransactionDefinition definition)
				throws SQLException {
			super.prepareTransactionalConnection(connection, definition);
			if (this.isolation != null) {
				try (Statement statement = connection.createStatement()) {
					statement.execute(this.isolation);
				}
			}
		}

	}

}
