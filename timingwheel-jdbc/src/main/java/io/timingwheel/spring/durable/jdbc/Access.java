package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;

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
	 * Runs statements in one transaction, and does not run them again after a collision.
	 */
	default <T extends @Nullable Object> T once(Function<Session, T> statements) {
		return transaction(statements);
	}

	/**
	 * Runs statements that take effect all or not at all. In the transaction of the
	 * caller this takes a savepoint, so that the caller may commit after an exception.
	 */
	default <T extends @Nullable Object> T allOrNone(Function<Session, T> statements) {
		return transaction(statements);
	}

	/**
	 * Runs statements in a transaction that other code has begun and will end.
	 */
	record Joined(Session session) implements Access {

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
