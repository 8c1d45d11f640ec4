package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

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

	private final String statement;

	private int plan;

	private long plannedAt = System.nanoTime() - PAUSE;

	private volatile @Nullable String text;

	PlannedStatement(String statement) {
		this.statement = statement;
	}

	<T> T query(Session session, ResultSetExtractor<T> extractor, @Nullable Object... parameters) {
		String planned = this.text;
		if (planned == null) {
			planned = plan(session.statements().text(this.statement));
		}
		long start = System.nanoTime();
		T result = session.jdbc().query(planned, extractor, Session.flat(parameters));
		if (System.nanoTime() - start > LONG) {
			planAnew();
		}
		return Objects.requireNonNull(result);
	}

	private synchronized String plan(String sql) {
		String planned = "/* plan " + this.plan + " */ " + sql;
		this.text = planned;
		return planned;
	}

	private synchronized void planAnew() {
		if (System.nanoTime() - this.plannedAt > PAUSE) {
			this.plannedAt = System.nanoTime();
			this.plan++;
			this.text = null;
		}
	}

}
