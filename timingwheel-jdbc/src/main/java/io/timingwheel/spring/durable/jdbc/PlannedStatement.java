package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ResultSetExtractor;

/**
 * A statement whose plan PostgreSQL keeps until it analyzes the table, even if the table
 * has grown and the plan reads the whole table for each task. So a statement that has
 * taken long gets another text, and a plan for the present table. That happens once in a
 * while only, since a busy server takes long for any statement. Thread-safe.
 */
final class PlannedStatement {

	private static final long LONG = Duration.ofMillis(100).toNanos();

	private static final long PAUSE = Duration.ofSeconds(10).toNanos();

	private final String statement;

	private final AtomicInteger plan = new AtomicInteger();

	private volatile long plannedAt = System.nanoTime() - PAUSE;

	private volatile @Nullable String text;

	PlannedStatement(String statement) {
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
