package io.timingwheel.spring.durable.jdbc;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.util.Assert;

/**
 * The database that keeps the tasks: its dialect, its clock, and the transactions of
 * callers and of nodes. Thread-safe.
 */
final class Database {

	private static final Pattern WORD = Pattern.compile("\\{(\\w+)}");

	private final Dialect dialect;

	private final ShortTransactions application;

	private final ShortTransactions store;

	private final ApplicationTransaction transaction;

	private final @Nullable LongSupplier clock;

	private final Map<String, String> words;

	/**
	 * Creates the access to the database.
	 * @param table the table of tasks
	 * @param dialect the particular features of the database
	 * @param application transactions on the application's data source
	 * @param store transactions on the store's data source
	 * @param transaction finds the transaction of a caller
	 * @param clock the clock that a test has set, {@code null} for the database's own
	 */
	Database(TableName table, Dialect dialect, ShortTransactions application, ShortTransactions store,
			ApplicationTransaction transaction, @Nullable LongSupplier clock) {
		this.dialect = dialect;
		this.application = application;
		this.store = store;
		this.transaction = transaction;
		this.clock = clock;
		this.words = Map.of("task", table.qualified(), "name", table.names(), "node", table.nodes(), "pending",
				String.valueOf(TaskRow.PENDING), "running", String.valueOf(TaskRow.RUNNING), "dead",
				String.valueOf(TaskRow.DEAD), "suspect", String.valueOf(TaskRow.SUSPECT_QUEUE), "max",
				String.valueOf(DelayedTaskStore.MAX_TIME), "now", "coalesce(?, " + dialect.clock() + ")");
	}

	Dialect dialect() {
		return this.dialect;
	}

	/**
	 * Replaces the words in braces in the text of a statement. These are the tables
	 * ({@code task}, {@code name}, {@code node}), the states of a task ({@code pending},
	 * {@code running}, {@code dead}), the queue of the suspects ({@code suspect}), the
	 * last time that can be stored ({@code max}), and the time ({@code now}). The time
	 * has one parameter, which is {@link #givenTime()}.
	 */
	String sql(String text) {
		return WORD.matcher(text).replaceAll((word) -> {
			String replacement = this.words.get(word.group(1));
			Assert.state(replacement != null, () -> "Unknown word in a statement: " + word.group());
			return Matcher.quoteReplacement(replacement);
		});
	}

	/**
	 * Whether a test has set the clock, which then may stand still.
	 */
	boolean isTimeGiven() {
		return this.clock != null;
	}

	/**
	 * How many milliseconds the database's clock has gone on since the node has read it.
	 * A node compares the time of a claim with its own clock when it has the reply, and
	 * starts tasks late by the difference.
	 * @param read when the reading arrived, by {@link System#nanoTime()}
	 */
	long millisSince(long read) {
		return isTimeGiven() ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - read);
	}

	/**
	 * The time by the clock that a test has set, {@code null} if the database's own clock
	 * counts.
	 */
	@Nullable Long givenTime() {
		return (this.clock != null) ? this.clock.getAsLong() : null;
	}

	/**
	 * The time, in milliseconds since the epoch.
	 */
	long now(JdbcOperations jdbc) {
		return (this.clock != null) ? this.clock.getAsLong() : this.dialect.now(jdbc);
	}

	/**
	 * What applications do: in the transaction of the calling thread, or else in short
	 * transactions on the application's data source.
	 */
	Access caller() {
		JdbcOperations joined = this.transaction.current();
		return (joined != null) ? new JoinedTransaction(joined) : this.application;
	}

	/**
	 * What nodes and operators do: in short transactions on the store's data source. If a
	 * test has set the clock, a transaction of the calling thread takes their place. The
	 * tasks of a test that is rolled back at its end then run within this transaction.
	 */
	Access node() {
		JdbcOperations joined = (this.clock != null) ? this.transaction.current() : null;
		return (joined != null) ? new JoinedTransaction(joined) : this.store;
	}

	/**
	 * Short transactions on the application's data source, for a thread that has no
	 * transaction.
	 */
	ShortTransactions application() {
		return this.application;
	}

	/**
	 * The transaction of the calling thread.
	 * @throws IllegalStateException if there is none
	 */
	JdbcOperations requiredTransaction() {
		JdbcOperations joined = this.transaction.current();
		Assert.state(joined != null, "The thread has no transaction on the DataSource of the application");
		return joined;
	}

}
