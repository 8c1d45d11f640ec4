package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToLongFunction;

import io.timingwheel.spring.durable.StoredCounts;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Counts tasks at a cost that does not grow with the table. Of each name and state the
 * index gives at most some thousand rows, which are counted exactly. If there are more
 * rows, the database estimates their number. H2 counts all rows.
 */
final class RowCounts {

	/**
	 * How many rows of one name and state are counted exactly, if there are few names.
	 */
	static final int MAX_EXACT = 5000;

	/**
	 * How many rows of one name and state are counted exactly if there are many names.
	 */
	static final int MIN_EXACT = 100;

	/** How many rows of one state are counted, unless there are very many names. */
	private static final int MAX_COUNTED = 50_000;

	private final Database database;

	private final Dialect dialect;

	private final TableName table;

	private final int maxExact;

	RowCounts(Database database) {
		this(database, MAX_EXACT);
	}

	/**
	 * Creates an object with a limit of its own, for tests.
	 */
	RowCounts(Database database, int maxExact) {
		this.database = database;
		this.dialect = database.dialect();
		this.table = database.table();
		this.maxExact = maxExact;
	}

	/**
	 * Counts the tasks of each name that has any.
	 */
	Map<String, StoredCounts> read() {
		return this.database.store().single((jdbc) -> {
			long now = this.database.now(jdbc);
			return this.dialect.countsAll() ? all(jdbc, "", now) : count(jdbc,
					jdbc.query(this.dialect.names(this.table), (rs, rowNum) -> TaskRow.name(rs, this.dialect)), now);
		});
	}

	/**
	 * Counts the tasks of some names, and reads no others.
	 */
	Map<String, StoredCounts> read(Set<String> names) {
		if (names.isEmpty()) {
			return Map.of();
		}
		return this.database.store().single((jdbc) -> {
			long now = this.database.now(jdbc);
			if (this.dialect.countsAll()) {
				String parameters = String.join(", ", Collections.nCopies(names.size(), "?"));
				return all(jdbc, " where name in (" + parameters + ")", now,
						names.stream().map(this.dialect::text).toArray());
			}
			return count(jdbc, List.copyOf(names), now);
		});
	}

	private Map<String, StoredCounts> all(JdbcOperations jdbc, String condition, long now, Object... parameters) {
		return states(jdbc, this.dialect,
				"select name, status, count(*) as tasks, sum(case when due_at <= %d then 1 else 0 end) as due from %s%s group by name, status"
					.formatted(now, this.table, condition),
				1, parameters);
	}

	private Map<String, StoredCounts> count(JdbcOperations jdbc, List<String> names, long now) {
		int limit = Math.min(this.maxExact, Math.max(MIN_EXACT, MAX_COUNTED / Math.max(1, names.size())));
		Map<String, StoredCounts> counts = names.isEmpty() ? Map.of()
				: this.dialect.count(jdbc, this.table, names, now, limit);
		Set<String> cut = new HashSet<>(counts.keySet());
		cut.removeIf((name) -> !isCut(Objects.requireNonNull(counts.get(name)), limit));
		if (!cut.isEmpty()) {
			this.dialect.estimate(jdbc, this.table, cut, now)
				.forEach((name, estimate) -> counts.computeIfPresent(name,
						(key, count) -> cut.contains(key) ? estimated(count, estimate, limit) : count));
		}
		return counts;
	}

	/**
	 * Reads counts by name and status.
	 * @param sql gives name, status, tasks and due
	 * @param factor how many rows stand for one
	 */
	static Map<String, StoredCounts> states(JdbcOperations jdbc, Dialect dialect, String sql, double factor,
			Object... parameters) {
		Map<String, StoredCounts> counts = new HashMap<>();
		jdbc.query(sql, (rs) -> {
			counts.merge(TaskRow.name(rs, dialect), ofState(rs, factor), StoredCounts::plus);
		}, parameters);
		return counts;
	}

	/**
	 * Reads the count of one state from status, tasks and due.
	 */
	static StoredCounts ofState(ResultSet rs, double factor) throws SQLException {
		long tasks = Math.round(rs.getLong("tasks") * factor);
		return switch (TaskRow.state(rs.getInt("status"))) {
			case PENDING -> new StoredCounts(tasks, Math.round(rs.getLong("due") * factor), 0, 0);
			case RUNNING -> new StoredCounts(0, 0, tasks, 0);
			case DEAD -> new StoredCounts(0, 0, 0, tasks);
		};
	}

	private static boolean isCut(StoredCounts counts, int limit) {
		return Math.max(Math.max(counts.pending(), counts.running()), counts.dead()) >= limit;
	}

	/**
	 * Replaces the figures that have reached the limit by estimates.
	 */
	private static StoredCounts estimated(StoredCounts counted, StoredCounts estimate, int limit) {
		ToLongFunction<ToLongFunction<StoredCounts>> figure = (read) -> {
			long exact = read.applyAsLong(counted);
			return (exact < limit) ? exact : Math.max(exact, read.applyAsLong(estimate));
		};
		long pending = figure.applyAsLong(StoredCounts::pending);
		return new StoredCounts(pending, Math.min(pending, figure.applyAsLong(StoredCounts::overdue)),
				figure.applyAsLong(StoredCounts::running), figure.applyAsLong(StoredCounts::dead), true);
	}

}
