package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/**
 * The database that keeps the tasks: the transactions of callers and of nodes.
 * Thread-safe.
 *
 * @param statements the statements, the dialect and the clock
 * @param application short transactions on the application's data source
 * @param store short transactions on the store's data source
 * @param transaction finds the transaction of a caller
 */
record Database(Statements statements, ShortTransactions application, ShortTransactions store,
		ApplicationTransaction transaction) {

	Dialect dialect() {
		return this.statements.dialect();
	}

	/**
	 * How many milliseconds the database's clock has gone on since the node has read it.
	 * A node compares the time of a claim with its own clock when it has the reply.
	 * @param read when the reading arrived, by {@link System#nanoTime()}
	 */
	long millisSince(long read) {
		return this.statements.isTimeGiven() ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read);
	}

	/**
	 * What applications do: in the transaction of the calling thread, or else in short
	 * transactions on the application's data source.
	 */
	Access caller() {
		Access joined = joined();
		return (joined != null) ? joined : this.application;
	}

	/**
	 * What nodes and operators do: in short transactions on the store's data source. If a
	 * test has set the clock, a transaction of the calling thread takes their place. The
	 * tasks of a test that is rolled back at its end then run within this transaction.
	 */
	Access node() {
		Access joined = this.statements.isTimeGiven() ? joined() : null;
		return (joined != null) ? joined : this.store;
	}

	/**
	 * The transaction of the calling thread.
	 * @throws IllegalStateException if there is none
	 */
	Session requiredTransaction() {
		Joined joined = joined();
		Assert.state(joined != null, "The thread has no transaction on the DataSource of the application");
		return joined.session();
	}

	/**
	 * Whether a caller's session is in a transaction that other code ends.
	 */
	boolean isJoined(Session session) {
		return !this.application.has(session);
	}

	private @Nullable Joined joined() {
		JdbcTemplate jdbc = this.transaction.current();
		return (jdbc != null) ? new Joined(new Session(jdbc, this.statements)) : null;
	}

	/**
	 * Runs statements, in a transaction of their own or in that of the caller.
	 */
	interface Access {

		/**
		 * Runs one statement, or statements that need no common transaction.
		 */
		<T extends @Nullable Object> T single(Function<Session, T> statement);

		/**
		 * Runs statements in one transaction.
		 */
		<T extends @Nullable Object> T transaction(Function<Session, T> statements);

		/**
		 * Runs statements in one transaction, and does not run them again after a
		 * collision.
		 */
		default <T extends @Nullable Object> T once(Function<Session, T> statements) {
			return transaction(statements);
		}

		/**
		 * Runs statements that take effect all or not at all. In the transaction of the
		 * caller this takes a savepoint, so that the caller may commit after an
		 * exception.
		 */
		default <T extends @Nullable Object> T allOrNone(Function<Session, T> statements) {
			return transaction(statements);
		}

	}

	/**
	 * Runs statements in a transaction that other code has begun and will end.
	 */
	private record Joined(Session session) implements Access {

		@Override
		public <T extends @Nullable Object> T single(Function<Session, T> statement) {
			return statement.apply(this.session);
		}

		@Override
		public <T extends @Nullable Object> T transaction(Function<Session, T> statements) {
			return statements.apply(this.session);
		}

		@Override
		public <T extends @Nullable Object> T allOrNone(Function<Session, T> statements) {
			return this.session.jdbc().execute((ConnectionCallback<T>) (connection) -> {
				Savepoint savepoint = savepoint(connection);
				try {
					T result = statements.apply(this.session);
					if (savepoint != null) {
						connection.releaseSavepoint(savepoint);
					}
					return result;
				}
				catch (RuntimeException | Error ex) {
					undo(connection, savepoint, ex);
					throw ex;
				}
			});
		}

		/**
		 * Sets a savepoint, unless the driver refuses: some do in a global transaction.
		 */
		private static @Nullable Savepoint savepoint(Connection connection) {
			try {
				return connection.setSavepoint();
			}
			catch (SQLException ex) {
				return null;
			}
		}

		/**
		 * Goes back to the savepoint, which is gone if the database has rolled back the
		 * whole transaction.
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

	}

}
