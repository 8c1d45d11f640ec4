package io.timingwheel.spring.durable.jdbc;

import java.util.function.LongSupplier;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * What the statements are about.
 *
 * @param table the table of tasks
 * @param dialect what is particular to the database
 * @param application runs what stores and cancels outside of a transaction
 * @param engine runs what leases, acknowledges and counts
 * @param offset what to add to the database's clock
 */
record Database(TableName table, Dialect dialect, ShortTransactions application, ShortTransactions engine,
		LongSupplier offset) {

	long now(JdbcOperations jdbc) {
		return this.dialect.now(jdbc) + this.offset.getAsLong();
	}

}
