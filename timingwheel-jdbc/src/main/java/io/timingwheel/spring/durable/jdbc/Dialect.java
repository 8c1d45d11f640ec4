package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * What differs between databases.
 */
abstract class Dialect {

	/**
	 * The time by the database's clock, in milliseconds since the epoch.
	 */
	abstract long now(JdbcOperations jdbc);

	/**
	 * The same within a statement, with one parameter.
	 */
	abstract String nowExpression();

	/**
	 * The parameter of {@link #nowExpression()}.
	 * @param offset what to add to the time
	 */
	long nowParameter(long offset) {
		return offset;
	}

	/**
	 * The name within a search by time. The database must not think of the indexes that
	 * begin with the name: they lead to all tasks of that name, which it would have to
	 * sort.
	 */
	abstract String nameWithoutIndex();

	/**
	 * A name or key as the parameter of a statement.
	 */
	abstract Object text(String text);

	/**
	 * A name or key as it was read.
	 */
	abstract @Nullable String text(ResultSet rs, String column) throws SQLException;

	/**
	 * What follows an {@code insert} so that another task with the key is no error. Empty
	 * if there is no such thing, and {@code DuplicateKeyException} does no harm.
	 */
	abstract String unlessPending();

	/**
	 * What follows a {@code select} of the one task with a key, to find out about a task
	 * that is being stored without waiting for it. Empty if it cannot be seen.
	 */
	String orLocked() {
		return "";
	}

	/**
	 * Sees to it that the current transaction does not wait long for another one that is
	 * storing a task with the same key.
	 */
	void limitWaiting(JdbcOperations jdbc) {
	}

	/**
	 * Undoes {@link #limitWaiting} at the end of the transaction.
	 */
	void endLimitOfWaiting(JdbcOperations jdbc) {
	}

	@Nullable Object nullableText(@Nullable String text) {
		return (text != null) ? text(text) : null;
	}

	/**
	 * An error text as the database can store it.
	 */
	String error(String text) {
		return text;
	}

	Claims claims(Database database) {
		return new Claims(database);
	}

	Leases leases(Database database) {
		return new Leases(database);
	}

	Enqueueing enqueueing(Database database) {
		return new Enqueueing(database);
	}

	BulkEnqueueing bulkEnqueueing(Database database) {
		return new BulkEnqueueing(database, enqueueing(database));
	}

	/**
	 * A list of parameters, with few lengths so that statements can be cached.
	 * @return the list in parentheses, as many as {@link #padded} gives
	 */
	static String placeholders(int size) {
		return "(" + String.join(", ", Collections.nCopies(paddedSize(size), "?")) + ")";
	}

	/**
	 * The values of {@link #placeholders}.
	 */
	static void padded(List<@Nullable Object> parameters, Collection<?> values) {
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
