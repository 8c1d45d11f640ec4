package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs statements in short transactions of their own, which are independent of any
 * transaction of the application and have the isolation "read committed". After a
 * collision with another transaction, the statements run again.
 */
final class ShortTransactions implements Database.Access {

	private static final int ATTEMPTS = 20;

	private static final long MAX_PAUSE = Duration.ofMillis(10).toNanos();

	private static final long MAX_TIME = Duration.ofSeconds(5).toNanos();

	private final Session session;

	private final TransactionTemplate transactions;

	private final boolean commitsEach;

	/**
	 * Creates the access to a database.
	 * @param settings the connections
	 * @param statements the texts of the statements
	 */
	ShortTransactions(ConnectionSettings settings, Statements statements) {
		// This wrapper has an identity of its own, so no transaction of the application
		// is bound to it.
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

	boolean has(Session session) {
		return session == this.session;
	}

	@Override
	public <T extends @Nullable Object> T single(Function<Session, T> statement) {
		return retried(() -> once(true, statement));
	}

	@Override
	public <T extends @Nullable Object> T transaction(Function<Session, T> statements) {
		return retried(() -> once(statements));
	}

	@Override
	public <T extends @Nullable Object> T once(Function<Session, T> statements) {
		return once(false, statements);
	}

	/**
	 * Runs statements in a transaction, and does not run them again after a collision. A
	 * single statement needs no transaction. But with synchronizations on the thread, a
	 * connection without a transaction would stay bound until they end.
	 * @param single whether this is only one statement
	 */
	<T extends @Nullable Object> T once(boolean single, Function<Session, T> statements) {
		if (single && this.commitsEach && !TransactionSynchronizationManager.isSynchronizationActive()) {
			return statements.apply(this.session);
		}
		try {
			return this.transactions.execute((status) -> statements.apply(this.session));
		}
		catch (CannotCreateTransactionException ex) {
			// Without a connection a transaction fails as a single statement does.
			throw ConnectionSettings.noConnection(String.valueOf(ex.getMessage()), ex);
		}
	}

	private static <T extends @Nullable Object> T retried(Supplier<T> attempt) {
		long start = System.nanoTime();
		for (int i = 1; i < ATTEMPTS; i++) {
			try {
				return attempt.get();
			}
			catch (ConcurrencyFailureException | DuplicateKeyException ex) {
				if (System.nanoTime() - start > MAX_TIME) {
					// This is not a short collision: another transaction holds a lock.
					throw ex;
				}
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE));
			}
		}
		return attempt.get();
	}

}
