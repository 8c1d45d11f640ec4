package io.timingwheel.spring.durable.jdbc;

import java.util.function.Function;

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

	TimeReading readTime(JdbcOperations jdbc) {
		return this.time.reading(now(jdbc));
	}

	/**
	 * Runs a statement in the caller's transaction. If there is none, runs the statement
	 * on the application's data source.
	 */
	<T extends @Nullable Object> T single(@Nullable JdbcOperations joined, Function<JdbcOperations, T> statement) {
		return (joined != null) ? statement.apply(joined) : this.application.single(statement);
	}

	/**
	 * Runs statements in the caller's transaction. If there is none, runs the statements
	 * in a short transaction on the application's data source.
	 */
	<T extends @Nullable Object> T transaction(@Nullable JdbcOperations joined,
			Function<JdbcOperations, T> statements) {
		return (joined != null) ? statements.apply(joined)
				: this.application.transaction((jdbc, status) -> statements.apply(jdbc));
	}

}
