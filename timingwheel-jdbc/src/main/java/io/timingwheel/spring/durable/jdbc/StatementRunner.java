package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs statements, either in the transaction of the caller, which other code ends, or in
 * short transactions of their own, which have the isolation "read committed" and run
 * again after a collision with another transaction. Thread-safe.
 */
final class StatementRunner {

	private static final int ATTEMPTS = 20;

	private static final long MAX_PAUSE = Duration.ofMillis(10).toNanos();

	private static final long MAX_TIME = Duration.ofSeconds(5).toNanos();

	private final Session session;

	/** Makes savepoints in the transaction of the caller, or short transactions. */
	private final TransactionTemplate template;

	private final boolean joined;

	private final boolean commitsEach;

	StatementRunner(ApplicationTransaction joined, Database database) {
		this.session = new Session(database.dialect().template(Objects.requireNonNull(joined.getDataSource())),
				database);
		this.template = new TransactionTemplate(joined);
		this.template.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		this.joined = true;
		this.commitsEach = false;
	}

	StatementRunner(ConnectionSettings settings, Database database) {
		// No transaction of the application is bound to this wrapper.
		DataSource own = new DelegatingDataSource(settings.dataSource());
		JdbcTemplate jdbc = settings.dialect().template(own);
		JdbcTransactionManager manager = new JdbcTransactionManager(own);
		manager.setExceptionTranslator(jdbc.getExceptionTranslator());
		this.session = new Session(jdbc, database);
		this.template = new TransactionTemplate(manager);
		this.template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		if (!settings.readCommitted()) {
			this.template.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
		}
		this.joined = false;
		this.commitsEach = settings.autoCommit() && settings.readCommitted();
	}

	Session session() {
		return this.session;
	}

	/** Runs one statement, or statements that need no common transaction. */
	<T extends @Nullable Object> T single(Function<Session, T> statement) {
		return retried(true, statement);
	}

	<T extends @Nullable Object> T transaction(Function<Session, T> statements) {
		return retried(false, statements);
	}

	private <T extends @Nullable Object> T retried(boolean single, Function<Session, T> statements) {
		long start = System.nanoTime();
		for (int i = 1; true; i++) {
			try {
				return once(single, statements);
			}
			catch (ConcurrencyFailureException | DuplicateKeyException ex) {
				if (this.joined || i == ATTEMPTS || System.nanoTime() - start > MAX_TIME) {
					// This is not a short collision: another transaction holds a lock.
					throw ex;
				}
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE));
			}
		}
	}

	/**
	 * Runs statements once. A single statement needs no transaction. But with
	 * synchronizations on the thread, its connection would stay bound until they end.
	 */
	<T extends @Nullable Object> T once(boolean single, Function<Session, T> statements) {
		if (this.joined
				|| (single && this.commitsEach && !TransactionSynchronizationManager.isSynchronizationActive())) {
			return statements.apply(this.session);
		}
		return this.template.execute((status) -> statements.apply(this.session));
	}

	/**
	 * Runs statements that take effect all or not at all, so that the caller may commit
	 * its transaction after an exception.
	 */
	<T extends @Nullable Object> T allOrNone(Function<Session, T> statements) {
		if (!this.joined) {
			return transaction(statements);
		}
		try {
			return this.template.execute((status) -> statements.apply(this.session));
		}
		catch (CannotCreateTransactionException ex) {
			// The driver has no savepoints.
			return statements.apply(this.session);
		}
		catch (TransactionSystemException ex) {
			// The database has rolled back the whole transaction, and the savepoint.
			throw (ex.getApplicationException() instanceof RuntimeException cause) ? cause : ex;
		}
	}

}
