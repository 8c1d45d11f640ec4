package io.timingwheel.spring.durable.jdbc;

import java.util.concurrent.TimeUnit;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.Assert;

/**
 * The database that keeps the tasks: the transactions of callers and of nodes.
 * Thread-safe.
 *
 * @param statements the statements, the dialect and the clock
 * @param application short transactions on the application's data source
 * @param store short transactions on the store's data source
 * @param transaction finds the transaction of a caller
 */
record Database(Statements statements, ShortTransactions application, ShortTransactions store,
		ApplicationTransaction transaction) {

	Dialect dialect() {
		return this.statements.dialect();
	}

	/**
	 * How many milliseconds the database's clock has gone on since the node has read it.
	 * A node compares the time of a claim with its own clock when it has the reply.
	 * @param read when the reading arrived, by {@link System#nanoTime()}
	 */
	long millisSince(long read) {
		return this.statements.isTimeGiven() ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read);
	}

	/**
	 * What applications do: in the transaction of the calling thread, or else in short
	 * transactions on the application's data source.
	 */
	Access caller() {
		JdbcTemplate joined = this.transaction.current();
		return (joined != null) ? new Access.Joined(new Session(joined, this.statements)) : this.application;
	}

	/**
	 * What nodes and operators do: in short transactions on the store's data source. If a
	 * test has set the clock, a transaction of the calling thread takes their place. The
	 * tasks of a test that is rolled back at its end then run within this transaction.
	 */
	Access node() {
		JdbcTemplate joined = this.statements.isTimeGiven() ? this.transaction.current() : null;
		return (joined != null) ? new Access.Joined(new Session(joined, this.statements)) : this.store;
	}

	/**
	 * The transaction of the calling thread.
	 * @throws IllegalStateException if there is none
	 */
	Session requiredTransaction() {
		JdbcTemplate joined = this.transaction.current();
		Assert.state(joined != null, "The thread has no transaction on the DataSource of the application");
		return new Session(joined, this.statements);
	}

}
