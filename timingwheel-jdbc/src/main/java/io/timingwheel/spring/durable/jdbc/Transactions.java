package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Runs statements, either in the transaction of the caller, which other code ends, or in
 * short transactions of their own, which have the isolation "read committed" and run
 * again after a collision with another transaction. Thread-safe.
 */
final class Transactions {

	private static final int ATTEMPTS = 20;

	private static final long MAX_PAUSE = Duration.ofMillis(10).toNanos();

	private static final long MAX_TIME = Duration.ofSeconds(5).toNanos();

	private final Session session;

	private final @Nullable TransactionTemplate template;

	private final boolean commitsEach;

	/** In the transaction of the caller. */
	Transactions(Session session) {
		this.session = session;
		this.template = null;
		this.commitsEach = true;
	}

	Transactions(ConnectionSettings settings, Database database) {
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
		this.commitsEach = settings.autoCommit() && settings.readCommitted();
	}

	Session session() {
		return this.session;
	}

	boolean isJoined() {
		return this.template == null;
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
				if (isJoined() || i == ATTEMPTS || System.nanoTime() - start > MAX_TIME) {
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
		if (this.template == null
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
		return isJoined()
				? this.session.jdbc()
					.execute((ConnectionCallback<T>) (connection) -> withSavepoint(connection, statements))
				: transaction(statements);
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

}
