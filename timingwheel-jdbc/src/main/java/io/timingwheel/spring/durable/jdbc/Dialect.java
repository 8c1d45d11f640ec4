package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.StoredCounts;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The differences between databases.
 */
abstract class Dialect {

	/**
	 * The transitions, in statements of this database.
	 */
	abstract Transitions transitions(Database database);

	/**
	 * Creates the access that runs the statements of the store.
	 */
	JdbcTemplate statements(DataSource dataSource) {
		return new JdbcTemplate(dataSource);
	}

	/**
	 * The time by the database's clock, in milliseconds since the epoch.
	 */
	abstract long now(JdbcOperations jdbc);

	/**
	 * A name or key as the parameter of a statement.
	 */
	abstract Object text(String text);

	final @Nullable Object nullableText(@Nullable String text) {
		return (text != null) ? text(text) : null;
	}

	/**
	 * A name or key from a column.
	 */
	abstract @Nullable String text(ResultSet rs, String column) throws SQLException;

	/**
	 * Whether the database can store a name or key.
	 */
	boolean canStore(String text) {
		return true;
	}

	/**
	 * An error text as the database can store it.
	 */
	String error(String text) {
		return text;
	}

	/**
	 * A payload, which is JSON, as the database can store it.
	 */
	String payload(String json) {
		return json;
	}

	/**
	 * How many bytes a payload may take in its column if the payload has so many.
	 */
	long storedBytes(long bytes) {
		return bytes;
	}

	/**
	 * Whether a statement that finds no row may lock the place where the row would be, up
	 * to the end of the caller's transaction. Nobody can then insert rows in this place.
	 */
	boolean locksAbsentRows() {
		return false;
	}

	/**
	 * The last clause of an {@code insert}. With this clause the statement does nothing
	 * if the key is taken. The clause is empty if the database has none. The statement
	 * then fails with a {@code DuplicateKeyException}, and the transaction can go on.
	 * @param column any column of the table
	 */
	String unlessTaken(String column) {
		return "";
	}

	/**
	 * The last clause of a {@code select} of the pending task with a key. With this
	 * clause the statement fails at once if another transaction is storing that task. The
	 * clause is empty if the database does not show such a task. An update that takes the
	 * key then waits, see {@link #limitLockWait}.
	 */
	String lockNoWait() {
		return "";
	}

	/**
	 * A further column of a {@code select}. With this column the database ends the
	 * transaction if its node is silent for some seconds. The column is empty if the
	 * database has no such limit for a transaction.
	 */
	String idleTransactionTimeout() {
		return "";
	}

	/**
	 * Lets the current transaction wait only briefly for another transaction that is
	 * storing a task with the same key.
	 */
	void limitLockWait(JdbcOperations jdbc) {
	}

	/**
	 * Undoes {@link #limitLockWait} at the end of the transaction.
	 */
	void resetLockWait(JdbcOperations jdbc) {
	}

	/**
	 * The condition for the tasks of a sample, which has about one task in 256. An index
	 * of the database contains only the sample.
	 * @return the condition, {@code null} if the database has no such index
	 */
	@Nullable String isSampled() {
		return null;
	}

	/**
	 * Whether the database can count many rows only by a count of all rows. The database
	 * then has no {@link #count} and no {@link #estimate}.
	 */
	boolean countsAll() {
		return false;
	}

	/**
	 * The statement that gives the names of all tasks, each once, and reads few rows of
	 * each name.
	 */
	String names(TableName table) {
		return "select distinct name from " + table;
	}

	/**
	 * Counts the tasks of some names in the order of the index on name, status and due
	 * time, so that the overdue tasks come first.
	 * @param names the names, at least one
	 * @param now the time that makes tasks overdue
	 * @param limit how many tasks of each name and state are counted at most
	 * @return the counts by name, of the names that have a task, in a map that can be
	 * changed
	 */
	Map<String, StoredCounts> count(JdbcOperations jdbc, TableName table, List<String> names, long now, int limit) {
		throw new UnsupportedOperationException("This database counts all tasks");
	}

	/**
	 * Estimates how many tasks there are, without reading them.
	 * @param names the names that matter
	 * @param now the time that makes tasks overdue
	 * @return the estimates by name, perhaps also of other names
	 */
	Map<String, StoredCounts> estimate(JdbcOperations jdbc, TableName table, Set<String> names, long now) {
		return Map.of();
	}

	/**
	 * The only number that a statement gives.
	 */
	static long number(JdbcOperations jdbc, String sql) {
		return DataAccessUtils.requiredSingleResult(jdbc.query(sql, (rs, rowNum) -> rs.getLong(1)));
	}

}
