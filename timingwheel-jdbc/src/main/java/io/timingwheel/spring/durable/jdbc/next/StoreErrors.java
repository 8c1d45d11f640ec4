package io.timingwheel.spring.durable.jdbc.next;

import java.sql.SQLException;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Tells what an exception of the database means.
 */
final class StoreErrors {

	/**
	 * The classes of SQL states by which a database refuses a statement: data, integrity,
	 * state of the transaction (read-only), prepared statement, rights, missing database
	 * or schema, syntax, and missing features.
	 */
	private static final Set<String> REFUSALS = Set.of("0A", "21", "22", "23", "25", "26", "28", "2F", "3D", "3F",
			"42");

	/** The SQL states of H2 for missing rights and a database that is read-only. */
	private static final Set<String> H2_REFUSALS = Set.of("90096", "90097");

	/** The errors of MariaDB and MySQL for a server that is read-only. */
	private static final Set<Integer> MYSQL_REFUSALS = Set.of(1290, 1836);

	private StoreErrors() {
	}

	/**
	 * Whether the database has answered, and refuses the statement or its values for
	 * good.
	 */
	static boolean isRefusal(Throwable error) {
		SQLException cause = sqlException(error);
		if (cause == null) {
			// A value that this store refuses.
			return error instanceof IllegalArgumentException;
		}
		String state = String.valueOf(cause.getSQLState());
		return (state.length() == 5 && REFUSALS.contains(state.substring(0, 2))) || H2_REFUSALS.contains(state)
				|| (state.equals("HY000") && MYSQL_REFUSALS.contains(cause.getErrorCode()));
	}

	private static @Nullable SQLException sqlException(Throwable error) {
		for (Throwable cause = error; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException found) {
				return found;
			}
		}
		return null;
	}

}
