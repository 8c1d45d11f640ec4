package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ResultSetExtractor;
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

	Statements(Schema.TableName table, Dialect dialect, @Nullable LongSupplier clock) {
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
		return (this.clock != null) ? this.clock.getAsLong() : null;
	}

	/**
	 * Whether a test has set the clock, which then may stand still.
	 */
	boolean isTimeGiven() {
		return this.clock != null;
	}

	/**
	 * A statement whose plan PostgreSQL keeps until it analyzes the table, even if the
	 * table has grown and the plan reads the whole table for each task. So a statement
	 * that has taken long gets another text, and a plan for the present table. That
	 * happens once in a while only, since a busy server takes long for any statement.
	 * Thread-safe.
	 */
	static final class Planned {

		private static final long LONG = Duration.ofMillis(100).toNanos();

		private static final long PAUSE = Duration.ofSeconds(10).toNanos();

		private final String statement;

		private final AtomicInteger plan = new AtomicInteger();

		private volatile long plannedAt = System.nanoTime() - PAUSE;

		private volatile @Nullable String text;

		Planned(String statement) {
			this.statement = statement;
		}

		<T> T query(Session session, ResultSetExtractor<T> extractor, @Nullable Object... parameters) {
			String planned = this.text;
			if (planned == null) {
				planned = "/* plan " + this.plan + " */ " + session.statements().text(this.statement);
				this.text = planned;
			}
			long start = System.nanoTime();
			T result = session.jdbc().query(planned, extractor, Session.flat(parameters));
			long end = System.nanoTime();
			if (end - start > LONG && end - this.plannedAt > PAUSE) {
				this.plannedAt = end;
				this.plan.incrementAndGet();
				this.text = null;
			}
			return Objects.requireNonNull(result);
		}

	}

}
