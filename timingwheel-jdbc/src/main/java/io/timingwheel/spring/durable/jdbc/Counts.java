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
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.StoredCounts;

import org.springframework.dao.support.DataAccessUtils;

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

	private static final String SAMPLE = """
			select name, count(*) filter (where status = {pending}),
				count(*) filter (where status = {pending} and due_at <= %1$d),
				count(*) filter (where status = {running}), count(*) filter (where status = {dead})
			from {task} tablesample system (%2$s) repeatable (1) group by name""";

	private static final String FORECAST = """
			select name, span, count(*) from (select name, floor((due_at - ?) / ?) as span from {task}
				where name {in} and status = {pending} and due_at >= ? and due_at < ?
				order by name, status, due_at limit ?) counted
			group by name, span""";

	private final Database database;

	Counts(Database database) {
		this.database = database;
	}

	/**
	 * Counts the tasks of some names, or of all.
	 * @param names the names, none for all
	 */
	Map<String, StoredCounts> count(Collection<String> names) {
		Dialect dialect = this.database.dialect();
		return this.database.node().single((session) -> {
			List<String> all = names.isEmpty() ? TaskNames.all(session)
					: names.stream().filter(dialect::canStore).toList();
			int limit = Math.min(MAX_EXACT, Math.max(MIN_EXACT, MAX_COUNTED / Math.max(1, all.size())));
			long now = session.now();
			Map<String, StoredCounts> counts = new HashMap<>();
			for (int from = 0; from < all.size(); from += NAMES_PER_STATEMENT) {
				count(session, all.subList(from, Math.min(all.size(), from + NAMES_PER_STATEMENT)), now, limit, counts);
			}
			Set<String> cut = new HashSet<>(counts.keySet());
			cut.removeIf((name) -> !counts.getOrDefault(name, StoredCounts.NONE).estimated());
			if (!cut.isEmpty() && dialect.isPostgres()) {
				estimate(session, now).forEach((name, estimate) -> counts.computeIfPresent(name,
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
	private static void count(Session session, List<String> names, long now, int limit,
			Map<String, StoredCounts> counts) {
		boolean postgres = session.dialect().isPostgres();
		String count = session.statements().text(COUNT).formatted(postgres ? "n.name" : "?", limit, now);
		String sql = postgres
				? "select n.number, " + count + " from unnest(?::text[]) with ordinality as n (name, number)"
				: String.join(" union all ",
						IntStream.rangeClosed(1, names.size())
							.mapToObj((number) -> "select " + number + " as number, " + count)
							.toList());
		Object[] parameters = postgres ? new Object[] { names.toArray(String[]::new) }
				: names.stream()
					.flatMap((name) -> Collections.nCopies(4, session.dialect().text(name)).stream())
					.toArray();
		session.jdbc().query(sql, (rs) -> {
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
	private static Map<String, StoredCounts> estimate(Session session, long now) {
		Long pages = DataAccessUtils.requiredSingleResult(
				session.query("select pg_relation_size('{task}') / current_setting('block_size')::bigint",
						(rs, rowNum) -> rs.getLong(1)));
		double share = (pages <= SAMPLED_PAGES) ? 1 : (double) SAMPLED_PAGES / pages;
		Map<String, StoredCounts> estimates = new HashMap<>();
		session.jdbc().query(session.statements().text(SAMPLE).formatted(now, 100 * share), (rs) -> {
			long[] numbers = new long[4];
			for (int i = 0; i < numbers.length; i++) {
				numbers[i] = Math.round(rs.getLong(i + 2) / share);
			}
			estimates.put(rs.getString(1), new StoredCounts(numbers[0], numbers[1], numbers[2], numbers[3]));
		});
		return estimates;
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
	 * Counts how many pending tasks fall due in equal spans of the time ahead: of the
	 * names with few tasks all, and of each other name those that are due first.
	 */
	Forecast forecast(Forecast.Query query) {
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
		return this.database.node().single((session) -> {
			long from = session.now();
			Map<String, DueCounts> counts = new HashMap<>();
			forecast(session, query, few, Integer.MAX_VALUE, from, counts);
			many.forEach((name) -> forecast(session, query, List.of(name), MAX_COUNTED / many.size(), from, counts));
			return new Forecast(from, counts);
		});
	}

	/**
	 * Counts the tasks of names. If a limit has cut the count, the span of the last task
	 * may have more, and is left out with those after it.
	 */
	private static void forecast(Session session, Forecast.Query query, List<String> names, int limit, long from,
			Map<String, DueCounts> counts) {
		Dialect dialect = session.dialect();
		Map<String, long[]> spans = new HashMap<>();
		names.forEach((name) -> spans.put(name, new long[query.spans()]));
		long span = query.span().toMillis();
		session.query(FORECAST, (rs, rowNum) -> {
			String name = String.valueOf(dialect.text(rs, 1));
			Objects.requireNonNull(spans.get(name))[rs.getInt(2)] = rs.getLong(3);
			return name;
		}, from, span, names.stream().filter(dialect::canStore).map(dialect::text).toList(), from,
				from + span * query.spans(), limit);
		spans.forEach((name, ofName) -> {
			int complete = ofName.length;
			if (LongStream.of(ofName).sum() == limit) {
				do {
					complete--;
				}
				while (ofName[complete] == 0);
			}
			counts.put(name, new DueCounts(LongStream.of(ofName).limit(complete).boxed().toList(), false));
		});
	}

}
