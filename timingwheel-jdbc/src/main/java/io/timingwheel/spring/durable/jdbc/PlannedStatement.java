package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Objects;

import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * A statement whose plan PostgreSQL keeps. A plan for a small table reads the whole table
 * for each task, and PostgreSQL keeps such a plan until it analyzes the table, even if
 * the table has grown. So a statement that has taken long gets another text, and is
 * planned for the present table. That happens once in a while only, since a busy server
 * takes long for any statement. Thread-safe.
 */
final class PlannedStatement {

	private static final long LONG = Duration.ofMillis(100).toNanos();

	private static final long PAUSE = Duration.ofSeconds(10).toNanos();

	private final String sql;

	private int plan;

	private long plannedAt = System.nanoTime() - PAUSE;

	PlannedStatement(String sql) {
		this.sql = sql;
	}

	<T> T query(JdbcOperations jdbc, ResultSetExtractor<T> extractor, Object... parameters) {
		String text = "/* plan " + plan() + " */ " + this.sql;
		long start = System.nanoTime();
		T result = jdbc.query(text, extractor, parameters);
		if (System.nanoTime() - start > LONG) {
			planAnew();
		}
		return Objects.requireNonNull(result);
	}

	private synchronized int plan() {
		return this.plan;
	}

	private synchronized void planAnew() {
		if (System.nanoTime() - this.plannedAt > PAUSE) {
			this.plannedAt = System.nanoTime();
			this.plan++;
		}
	}

}
