package io.timingwheel.spring.durable.jdbc;

import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Runs statements, in a transaction of their own or in that of the caller.
 */
interface Access {

	/**
	 * Runs one statement, or statements that need no common transaction.
	 */
	<T extends @Nullable Object> T single(Function<JdbcOperations, T> statement);

	/**
	 * Runs statements in one transaction.
	 */
	<T extends @Nullable Object> T transaction(Function<JdbcOperations, T> statements);

	/**
	 * Runs statements in one transaction, and does not run them again after a collision.
	 */
	default <T extends @Nullable Object> T once(Function<JdbcOperations, T> statements) {
		return transaction(statements);
	}

	/**
	 * Runs statements that take effect all or not at all. In the transaction of the
	 * caller this takes a savepoint, so that the caller may commit after an exception.
	 */
	default <T extends @Nullable Object> T allOrNone(Function<JdbcOperations, T> statements) {
		return transaction(statements);
	}

}
