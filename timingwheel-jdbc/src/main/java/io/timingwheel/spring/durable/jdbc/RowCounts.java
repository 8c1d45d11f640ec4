package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
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
 * index gives at most some thousand rows, which are counted exactly. What has more rows
 * is estimated as the database can do it. H2 counts all rows.
 */
final class RowCounts {

	/**
	 * How many rows of one name and state are counted exactly, if there are few names.
	 */
	static final int MAX_EXACT = 5000;

	private static final int MIN_EXACT = 1000;

	/** How many rows of all names are counted, unless there are very many names. */
	private static final int MAX_COUNTED = 50_000;

	private static final int NAMES_PER_STATEMENT = 50;

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
			if (this.dialect.countsAll()) {
				return all(jdbc, now);
			}
			List<String> names = jdbc.query(this.dialect.names(this.table),
					(rs, rowNum) -> TaskRow.name(rs, this.dialect));
			int limit = Math.min(this.maxExact, Math.max(MIN_EXACT, MAX_COUNTED / Math.max(1, names.size())));
			Map<String, StoredCounts> counts = new HashMap<>();
			for (int i = 0; i < names.size(); i += NAMES_PER_STATEMENT) {
				count(jdbc, names.subList(i, Math.min(names.size(), i + NAMES_PER_STATEMENT)), now, limit, counts);
			}
			counts.values().removeIf(StoredCounts.NONE::equals);
			Set<String> cut = new HashSet<>(counts.keySet());
			cut.removeIf((name) -> !isCut(Objects.requireNonNull(counts.get(name)), limit));
			if (!cut.isEmpty()) {
				this.dialect.estimate(jdbc, this.table, cut, now)
					.forEach((name, estimate) -> counts.computeIfPresent(name,
							(key, count) -> cut.contains(key) ? estimated(count, estimate, limit) : count));
			}
			return counts;
		});
	}

	private Map<String, StoredCounts> all(JdbcOperations jdbc, long now) {
		return states(jdbc, this.dialect,
				"select name, status, count(*) as tasks,"
						+ " sum(case when due_at <= %d then 1 else 0 end) as due from %s group by name, status"
							.formatted(now, this.table),
				1);
	}

	/**
	 * Reads counts by name and status.
	 * @param sql gives name, status, tasks and due
	 * @param factor how many rows stand for one
	 */
	static Map<String, StoredCounts> states(JdbcOperations jdbc, Dialect dialect, String sql, double factor) {
		Map<String, StoredCounts> counts = new HashMap<>();
		jdbc.query(sql, (rs) -> {
			long tasks = Math.round(rs.getLong("tasks") * factor);
			counts.merge(TaskRow.name(rs, dialect), switch (TaskRow.state(rs.getInt("status"))) {
				case PENDING -> new StoredCounts(tasks, Math.round(rs.getLong("due") * factor), 0, 0);
				case RUNNING -> new StoredCounts(0, 0, tasks, 0);
				case DEAD -> new StoredCounts(0, 0, 0, tasks);
			}, StoredCounts::plus);
		});
		return counts;
	}

	/**
	 * Counts with one statement. The time is part of the text, so that PostgreSQL plans
	 * the statement for the present table.
	 */
	private void count(JdbcOperations jdbc, List<String> names, long now, int limit, Map<String, StoredCounts> counts) {
		String pending = "status = " + TaskRow.PENDING;
		String sql = "select %%d as number, %s as pending, %s as overdue, %s as running, %s as dead".formatted(
				upTo(limit, pending), upTo(limit, pending + " and due_at <= " + now),
				upTo(limit, "status = " + TaskRow.RUNNING), upTo(limit, "status = " + TaskRow.DEAD));
		List<String> searches = new ArrayList<>();
		List<Object> parameters = new ArrayList<>();
		for (int i = 0; i < names.size(); i++) {
			searches.add(sql.formatted(i));
			parameters.addAll(Collections.nCopies(4, this.dialect.text(names.get(i))));
		}
		jdbc.query(String.join(" union all ", searches), (rs) -> {
			counts.put(names.get(rs.getInt("number")), new StoredCounts(rs.getLong("pending"), rs.getLong("overdue"),
					rs.getLong("running"), rs.getLong("dead")));
		}, parameters.toArray());
	}

	/**
	 * Counts the rows of a name in the order of the index, but not more than the limit.
	 */
	private String upTo(int limit, String condition) {
		return "(select count(*) from (select due_at from %s where name = ? and %s order by name, status, due_at limit %d) c)"
			.formatted(this.table, condition, limit);
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
