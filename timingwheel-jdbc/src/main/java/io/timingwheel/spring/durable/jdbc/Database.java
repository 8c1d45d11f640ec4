package io.timingwheel.spring.durable.jdbc;

import java.util.Collection;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The database that keeps the tasks, and the access to it.
 *
 * @param table the table of tasks
 * @param dialect the particular features of the database
 * @param application transactions on the application's data source, for a caller that has
 * no transaction of its own
 * @param store transactions on the store's data source, for the nodes
 * @param time the time of the tasks
 */
record Database(TableName table, Dialect dialect, ShortTransactions application, ShortTransactions store,
		StoreTime time) {

	long now(JdbcOperations jdbc) {
		return this.time.now(this.dialect, jdbc);
	}

	/**
	 * A list of parameters in parentheses. The list has one of few lengths, so that
	 * statements can be cached.
	 * @param size the number of values for {@link #addPadded}
	 */
	static String placeholders(int size) {
		return "(" + String.join(", ", Collections.nCopies(paddedSize(size), "?")) + ")";
	}

	/**
	 * The condition that a column has one of the values in a list.
	 * @param size the number of values for {@link #addPadded}
	 */
	static String isOneOf(int size) {
		return (size == 1) ? " = ?" : " in " + placeholders(size);
	}

	/**
	 * Adds the values for {@link #placeholders}. The last value fills the rest of the
	 * list.
	 */
	static void addPadded(List<@Nullable Object> parameters, Collection<?> values) {
		Object last = "";
		for (Object value : values) {
			parameters.add(value);
			last = value;
		}
		parameters.addAll(Collections.nCopies(paddedSize(values.size()) - values.size(), last));
	}

	private static int paddedSize(int size) {
		return (size <= 1) ? 1 : Integer.highestOneBit(size - 1) << 1;
	}

}
