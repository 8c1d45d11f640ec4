package io.timingwheel.spring.durable.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
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

	private final Supplier<@Nullable Long> givenTime;

	private final Map<String, String> words;

	private final Map<String, String> texts = new ConcurrentHashMap<>();

	Statements(TableName table, Dialect dialect, Supplier<@Nullable Long> givenTime) {
		this.dialect = dialect;
		this.givenTime = givenTime;
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
	 * Replaces the words in braces in a statement, one of a limited number. The word
	 * {@code now} has one parameter, which is {@link #givenTime()}.
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
	 * The time by the clock that a test has set.
	 */
	@Nullable Long givenTime() {
		return this.givenTime.get();
	}

}
