package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Runs statements in a transaction that other code has begun and will end.
 */
record JoinedTransaction(JdbcOperations jdbc) implements Access {

	@Override
	public <T extends @Nullable Object> T single(Function<JdbcOperations, T> statement) {
		return statement.apply(this.jdbc);
	}

	@Override
	public <T extends @Nullable Object> T transaction(Function<JdbcOperations, T> statements) {
		return statements.apply(this.jdbc);
	}

	@Override
	public <T extends @Nullable Object> T allOrNone(Function<JdbcOperations, T> statements) {
		return this.jdbc.execute((ConnectionCallback<T>) (connection) -> {
			Savepoint savepoint = setSavepoint(connection);
			T result;
			try {
				result = statements.apply(this.jdbc);
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

}
