package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Undoes statements in the caller's transaction, as the caller may go on after an
 * exception, and commit.
 */
final class Savepoints {

	private Savepoints() {
	}

	/**
	 * Runs statements of which all take effect, or none.
	 */
	static <T> T allOrNone(JdbcOperations jdbc, Supplier<T> statements) {
		return jdbc.execute((ConnectionCallback<T>) (connection) -> {
			Savepoint savepoint = set(connection);
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
	 * Within a global transaction some drivers refuse.
	 */
	private static @Nullable Savepoint set(Connection connection) {
		try {
			return connection.setSavepoint();
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * A database that has rolled back the whole transaction has no savepoint any more.
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
