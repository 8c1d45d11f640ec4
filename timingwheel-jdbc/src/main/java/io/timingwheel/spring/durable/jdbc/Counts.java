package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.StoredCounts;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Counts tasks at a cost that does not grow with the table. Of each name and state the
 * index gives a limited number of rows, which are counted exactly. If there are more,
 * PostgreSQL counts in some pages of the table. For the other databases the number is
 * then a lower bound.
 */
final class Counts {

	/** How many rows of one state are counted, unless there are very many names. */
	private static final int MAX_COUNTED = 50_000;

	/** How many rows of one name and state are counted at most, and at least. */
	private static final int MAX_EXACT = 5000;

	private static final int MIN_EXACT = 100;

	private static final int NAMES_PER_STATEMENT = 50;

	/** In how many pages of the table the rows are counted for an estimate. */
	private static final int SAMPLED_PAGES = 800;

	private static final String COUNT = """
			(select count(*) from (select due_at from {task} where name = %1$s and status = {pending}
				order by name, status, due_at limit %2$d) a)
				as pending,
			(select count(*) from (select due_at from {task} where name = %1$s and status = {pending}
				and due_at <= %3$d order by name, status, due_at limit %2$d) b) as overdue,
			(select count(*) from (select next_at from {task} where name = %1$s and queue = {running}
				and next_at is not null order by name, queue, next_at limit %2$d) c) as running,
			(select count(*) from (select died_at from {task} where name = %1$s and died_at is not null
				order by name, died_at limit %2$d) d)
				as dead""";

	private static final String DUE = "select name, floor((due_at - ?) / ?) as span from %s where name%s"
			+ " and status = {pending} and due_at >= ? and due_at < ?";

	private final Database database;

	private final TaskNames names;

	Counts(Database database) {
		this.database = database;
		this.names = new TaskNames(database);
	}

	/**
	 * Counts the tasks of some names, or of all.
	 * @param names the names, none for all
	 */
	Map<String, StoredCounts> count(Collection<String> names) {
		Dialect dialect = this.database.dialect();
		return this.database.node().single((jdbc) -> {
			List<String> all = names.isEmpty() ? this.names.all(jdbc)
					: names.stream().filter(dialect::canStore).toList();
			int limit = Math.min(MAX_EXACT, Math.max(MIN_EXACT, MAX_COUNTED / Math.max(1, all.size())));
			long now = this.database.now(jdbc);
			Map<String, StoredCounts> counts = new HashMap<>();
			for (int from = 0; from < all.size(); from += NAMES_PER_STATEMENT) {
				count(jdbc, all.subList(from, Math.min(all.size(), from + NAMES_PER_STATEMENT)), now, limit, counts);
			}
			Set<String> cut = new HashSet<>(counts.keySet());
			cut.removeIf((name) -> !counts.getOrDefault(name, StoredCounts.NONE).estimated());
			if (!cut.isEmpty() && dialect.isPostgres()) {
				estimate(jdbc, now).forEach((name, estimate) -> counts.computeIfPresent(name,
						(key, count) -> count.estimated() ? atLeast(count, estimate, limit) : count));
			}
			return counts;
		});
	}

	/**
	 * Counts the tasks of some names. On PostgreSQL all names share the plan of one
	 * search. MySQL cannot join such a search to the names. The time is part of the text,
	 * so that the statement is planned for the present table. Each order is that of an
	 * index, since PostgreSQL would read all rows of a name that seems to have many.
	 */
	private void count(JdbcOperations jdbc, List<String> names, long now, int limit, Map<String, StoredCounts> counts) {
		boolean postgres = this.database.dialect().isPostgres();
		String count = this.database.sql(COUNT.formatted(postgres ? "n.name" : "?", limit, now));
		String sql = postgres
				? "select n.number, " + count + " from unnest(?::text[]) with ordinality as n (name, number)"
				: String.join(" union all ",
						IntStream.rangeClosed(1, names.size())
							.mapToObj((number) -> "select " + number + " as number, " + count)
							.toList());
		Object[] parameters = postgres ? new Object[] { names.toArray(String[]::new) }
				: names.stream()
					.flatMap((name) -> Collections.nCopies(4, this.database.dialect().text(name)).stream())
					.toArray();
		jdbc.query(sql, (rs) -> {
			StoredCounts exact = counts(rs, limit);
			if (exact.pending() + exact.running() + exact.dead() > 0) {
				counts.put(names.get(rs.getInt("number") - 1), exact);
			}
		}, parameters);
	}

	private static StoredCounts counts(ResultSet rs, int limit) throws SQLException {
		long pending = rs.getLong("pending");
		long running = rs.getLong("running");
		long dead = rs.getLong("dead");
		return new StoredCounts(pending, rs.getLong("overdue"), running, dead,
				Math.max(Math.max(pending, running), dead) >= limit);
	}

	/**
	 * Counts in some pages of the table. A table that has grown in the meantime keeps
	 * most of these pages, so that the figures do not jump.
	 */
	private Map<String, StoredCounts> estimate(JdbcOperations jdbc, long now) {
		double share = sampledShare(jdbc);
		Map<String, StoredCounts> estimates = new HashMap<>();
		jdbc.query(this.database.sql("""
				select name, count(*) filter (where status = {pending}) as pending,
					count(*) filter (where status = {pending} and due_at <= ?) as overdue,
					count(*) filter (where status = {running}) as running,
					count(*) filter (where status = {dead}) as dead
				from %s group by name""".formatted(sample(share))), (rs) -> {
			estimates.put(rs.getString("name"),
					new StoredCounts(Math.round(rs.getLong("pending") / share),
							Math.round(rs.getLong("overdue") / share), Math.round(rs.getLong("running") / share),
							Math.round(rs.getLong("dead") / share)));
		}, now);
		return estimates;
	}

	private double sampledShare(JdbcOperations jdbc) {
		Long pages = jdbc.queryForObject(
				this.database.sql("select pg_relation_size('{task}') / current_setting('block_size')::bigint"),
				Long.class);
		return (pages == null || pages <= SAMPLED_PAGES) ? 1 : (double) SAMPLED_PAGES / pages;
	}

	private static String sample(double share) {
		return "{task} tablesample system (" + 100 * share + ") repeatable (1)";
	}

	/**
	 * Replaces the figures that have reached the limit by estimates.
	 */
	private static StoredCounts atLeast(StoredCounts exact, StoredCounts estimate, int limit) {
		long pending = larger(exact.pending(), estimate.pending(), limit);
		return new StoredCounts(pending, Math.min(pending, larger(exact.overdue(), estimate.overdue(), limit)),
				larger(exact.running(), estimate.running(), limit), larger(exact.dead(), estimate.dead(), limit), true);
	}

	private static long larger(long exact, long estimate, int limit) {
		return (exact < limit) ? exact : Math.max(exact, estimate);
	}

	/**
	 * Counts how many pending tasks fall due in equal spans of the time ahead.
	 */
	Forecast forecast(Forecast.Query query) {
		return this.database.node().single((jdbc) -> {
			long from = this.database.now(jdbc);
			Map<String, DueCounts> counts = new HashMap<>();
			List<String> few = new ArrayList<>();
			List<String> many = new ArrayList<>();
			long counted = 0;
			for (Map.Entry<String, Long> name : query.pending()
				.entrySet()
				.stream()
				.sorted(Map.Entry.comparingByValue())
				.toList()) {
				counted += name.getValue();
				((counted <= MAX_COUNTED) ? few : many).add(name.getKey());
			}
			countDue(jdbc, query, from, few, "{task}", 1, counts);
			if (this.database.dialect().isPostgres()) {
				double share = many.isEmpty() ? 1 : sampledShare(jdbc);
				countDue(jdbc, query, from, many, sample(share), share, counts);
			}
			else {
				many.forEach((name) -> countFirst(jdbc, query, from, name, MAX_COUNTED / many.size(), counts));
			}
			return new Forecast(from, counts);
		});
	}

	/**
	 * Counts the tasks of some names in the table or in a part of it.
	 * @param share the share of the tasks that the part has
	 */
	private void countDue(JdbcOperations jdbc, Forecast.Query query, long from, List<String> names, String table,
			double share, Map<String, DueCounts> counts) {
		if (names.isEmpty()) {
			return;
		}
		Dialect dialect = this.database.dialect();
		Map<String, long[]> spans = new HashMap<>();
		names.forEach((name) -> spans.put(name, new long[query.spans()]));
		List<Object> texts = names.stream().filter(dialect::canStore).map(dialect::text).toList();
		List<Object> parameters = new ArrayList<>(List.of(Parameters.and(texts, from, query.span().toMillis())));
		parameters.addAll(List.of(from, end(query, from)));
		String due = DUE.formatted(table, Parameters.isOneOf(texts.size()));
		jdbc.query(grouped(due), (rs) -> {
			long[] ofName = spans.get(dialect.text(rs, "name"));
			if (ofName != null) {
				ofName[rs.getInt("span")] = Math.round(rs.getLong("tasks") / share);
			}
		}, parameters.toArray());
		spans.forEach(
				(name, ofName) -> counts.put(name, new DueCounts(LongStream.of(ofName).boxed().toList(), share < 1)));
	}

	/**
	 * Counts the tasks of a name that are due first. The span of the last counted task
	 * may have more tasks.
	 */
	private void countFirst(JdbcOperations jdbc, Forecast.Query query, long from, String name, int limit,
			Map<String, DueCounts> counts) {
		long[] spans = new long[query.spans()];
		jdbc.query(grouped(DUE.formatted("{task}", " = ?") + " order by name, status, due_at limit ?"), (rs) -> {
			spans[rs.getInt("span")] = rs.getLong("tasks");
		}, from, query.span().toMillis(), this.database.dialect().text(name), from, end(query, from), limit);
		int complete = spans.length;
		if (LongStream.of(spans).sum() == limit) {
			do {
				complete--;
			}
			while (spans[complete] == 0);
		}
		counts.put(name, new DueCounts(LongStream.of(spans).limit(complete).boxed().toList(), false));
	}

	private String grouped(String due) {
		return this.database.sql("select name, span, count(*) as tasks from (" + due + ") counted group by name, span");
	}

	private static long end(Forecast.Query query, long from) {
		return from + query.span().toMillis() * query.spans();
	}

}
