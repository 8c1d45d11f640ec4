package io.timingwheel.spring.durable.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The texts of the statements for one table of tasks in one kind of database.
 * Thread-safe.
 */
final class Statements {

	private static final Pattern WORD = Pattern.compile("\\{(\\w+)}");

	private final Dialect dialect;

	private final @Nullable LongSupplier clock;

	private final Map<String, String> words;

	private final Map<String, String> texts = new ConcurrentHashMap<>();

	/**
	 * Creates the statements.
	 * @param clock the clock that a test has set, {@code null} for the database's own
	 */
	Statements(TableName table, Dialect dialect, @Nullable LongSupplier clock) {
		this.dialect = dialect;
		this.clock = clock;
		this.words = Map.of("task", table.qualified(), "name", table.names(), "node", table.nodes(), "pending",
				String.valueOf(TaskRow.PENDING), "running", String.valueOf(TaskRow.RUNNING), "dead",
				String.valueOf(TaskRow.DEAD), "suspect", String.valueOf(TaskRow.SUSPECT_QUEUE), "max",
				String.valueOf(DelayedTaskStore.MAX_TIME), "columns", TaskRow.COLUMNS, "now",
				"coalesce(?, " + dialect.clock() + ")");
	}

	Dialect dialect() {
		return this.dialect;
	}

	/**
	 * Replaces the words in braces in a statement. These are the tables ({@code task},
	 * {@code name}, {@code node}), the states of a task ({@code pending},
	 * {@code running}, {@code dead}), the queue of the suspects ({@code suspect}), the
	 * columns of a {@link TaskRow}, the last time that can be stored ({@code max}), and
	 * the time ({@code now}). The time has one parameter, which is {@link #givenTime()}.
	 * @param statement the statement, one of a limited number
	 */
	String text(String statement) {
		String text = this.texts.get(statement);
		return (text != null) ? text : this.texts.computeIfAbsent(statement, this::replaceWords);
	}

	private String replaceWords(String statement) {
		return WORD.matcher(statement).replaceAll((word) -> {
			String replacement = this.words.get(word.group(1));
			Assert.state(replacement != null, () -> "Unknown word in a statement: " + word.group());
			return Matcher.quoteReplacement(replacement);
		});
	}

	/**
	 * The time by the clock that a test has set, {@code null} if the database's own clock
	 * counts.
	 */
	@Nullable Long givenTime() {
		return (this.clock != null) ? this.clock.getAsLong() : null;
	}

	/**
	 * Whether a test has set the clock, which then may stand still.
	 */
	boolean isTimeGiven() {
		return this.clock != null;
	}

}
