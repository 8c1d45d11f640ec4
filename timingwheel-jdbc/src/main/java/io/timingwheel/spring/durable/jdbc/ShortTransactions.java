package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.jdbc.support.SQLErrorCodeSQLExceptionTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Statements that stand outside of any transaction of the application, and read what is
 * committed.
 */
final class ShortTransactions {

	private static final int ATTEMPTS = 20;

	private static final long MAX_PAUSE = Duration.ofMillis(10).toNanos();

	private static final long MAX_TIME = Duration.ofSeconds(5).toNanos();

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transactions;

	private final boolean autoCommit;

	/**
	 * Creates the access to a database.
	 * @param dataSource where the connections come from
	 * @param product the database's name, as Spring knows it
	 * @param autoCommit whether its connections commit each statement and read what is
	 * committed
	 * @param isolation a statement that makes them read what is committed, {@code null}
	 * if they do
	 */
	ShortTransactions(DataSource dataSource, String product, boolean autoCommit, @Nullable String isolation) {
		// An object of our own, to which no transaction of the application is bound.
		DataSource own = new DelegatingDataSource(dataSource);
		SQLExceptionTranslator translator = new SQLErrorCodeSQLExceptionTranslator(product);
		this.jdbc = new JdbcTemplate(own);
		this.jdbc.setExceptionTranslator(translator);
		ReadCommitted manager = new ReadCommitted(own, isolation);
		manager.setExceptionTranslator(translator);
		this.transactions = new TransactionTemplate(manager);
		this.transactions.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.autoCommit = autoCommit;
	}

	/**
	 * Runs a single statement.
	 */
	<T extends @Nullable Object> T single(Function<JdbcOperations, T> statement) {
		if (this.autoCommit && !TransactionSynchronizationManager.isSynchronizationActive()) {
			return retried(() -> statement.apply(this.jdbc));
		}
		return transaction((jdbc, status) -> statement.apply(jdbc));
	}

	/**
	 * Runs statements in a transaction, again if it collided with another one.
	 */
	<T extends @Nullable Object> T transaction(Work<T> work) {
		return retried(() -> this.transactions.execute((status) -> work.run(this.jdbc, status)));
	}

	private static <T extends @Nullable Object> T retried(Attempt<T> attempt) {
		long start = System.nanoTime();
		for (int i = 1; i < ATTEMPTS; i++) {
			try {
				return attempt.run();
			}
			catch (ConcurrencyFailureException | DuplicateKeyException ex) {
				if (System.nanoTime() - start > MAX_TIME) {
					// Not a collision, but a lock that somebody holds.
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
	 * Sets the isolation by a statement, as a driver asks the server for the earlier one,
	 * and puts that back afterwards.
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
