package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.Position;
import io.timingwheel.spring.durable.store.TaskLimits;

/**
 * Reads pages and counts of tasks, and keeps and reads what nodes report. Takes no locks.
 *
 * <p>
 * The cost of counts does not grow with the table. Of each name and state the index gives
 * a limited number of rows, which are counted exactly. If there are more, PostgreSQL
 * counts in some pages of the table. For the other databases the number is then a lower
 * bound.
 */
final class Reads {

	/** How many rows of one state are counted, unless there are very many names. */
	private static final int MAX_COUNTED = 50_000;

	/** How many rows of one name and state are counted at most, and at least. */
	private static final int MAX_EXACT = 5000;

	private static final int MIN_EXACT = 100;

	/** In how many pages of the table the rows are counted for an estimate. */
	private static final int SAMPLED_PAGES = 800;

	/**
	 * Each order is that of an index, and the limit is a part of the text. PostgreSQL
	 * would otherwise read all rows of a name that seems to have many.
	 */
	private static final String COUNT = """
			select (select count(*) from (select due_at from {task} where name = ? and status = {pending}
					order by name, status, due_at limit %1$d) a),
				(select count(*) from (select due_at from {task} where name = ? and status = {pending}
					and due_at <= ? order by name, status, due_at limit %1$d) b),
				(select count(*) from (select next_at from {task} where name = ? and queue = {running}
					and next_at is not null order by name, queue, next_at limit %1$d) c),
				(select count(*) from (select died_at from {task} where name = ? and died_at is not null
					order by name, died_at limit %1$d) d)""";

	private static final String PAGES = "select pg_relation_size('{task}') / current_setting('block_size')::bigint";

	private static final String SAMPLE = """
			select name, count(*) filter (where status = {pending}),
				count(*) filter (where status = {pending} and due_at <= ?),
				count(*) filter (where status = {running}), count(*) filter (where status = {dead})
			from {task} tablesample system (?) repeatable (1) group by name""";

	private static final String FORECAST = """
			select name, span, count(*) from (select name, floor((due_at - ?) / ?) as span from {task}
				where name {in} and status = {pending} and due_at >= ? and due_at < ?
				order by name, status, due_at limit ?) counted
			group by name, span""";

	private final Database database;

	Reads(Database database) {
		this.database = database;
	}

	/**
	 * Reads a page from an index. Each order begins with the first columns of the index,
	 * since H2 would sort all tasks otherwise.
	 */
	ListQuery.Page list(ListQuery query) {
		String sql = "select {columns} from {task} where name = ? and " + switch (query.order()) {
			case PENDING -> "status = {pending} and due_at >= ? and (due_at, id) > (?, ?)"
					+ " order by name, status, due_at, id limit ?";
			case DEAD_OLDEST_FIRST -> "died_at >= ? and (died_at, id) > (?, ?) order by name, died_at, id limit ?";
			case DEAD_LATEST_FIRST ->
				"died_at <= ? and (died_at, id) < (?, ?) order by name desc, died_at desc, id desc limit ?";
		};
		boolean latestFirst = query.order() == ListQuery.Order.DEAD_LATEST_FIRST;
		Position after = (query.after() != null) ? query.after()
				: new Position(latestFirst ? Long.MAX_VALUE : Long.MIN_VALUE, "");
		List<StoredTask> tasks = this.database.node()
			.single((session) -> session.rows(sql, session.dialect().text(query.name()), after.time(), after.time(),
					after.id(), query.limit() + 1))
			.stream()
			.map(TaskRow::stored)
			.toList();
		boolean more = tasks.size() > query.limit();
		return new ListQuery.Page(more ? tasks.subList(0, query.limit()) : tasks, more);
	}

	void heartbeat(NodeState state) {
		this.database.node().single((session) -> {
			if (state.activity() == Activity.ENDED) {
				return session.update("delete from {node} where id = ?", state.nodeId());
			}
			int claiming = (state.activity() == Activity.CLAIMING) ? 1 : 0;
			int updated = session.update(
					"update {node} set reported_at = {now}, claiming = ?, in_flight = ? where id = ?",
					session.statements().givenTime(), claiming, state.inFlight(), state.nodeId());
			if (updated == 0) {
				long now = session.now();
				session.update("delete from {node} where reported_at < ?", oldest(now));
				session.update("insert into {node} (claiming, in_flight, reported_at, id) values (?, ?, ?, ?)",
						claiming, state.inFlight(), now, state.nodeId());
			}
			return updated;
		});
	}

	List<NodeState.Reported> nodes() {
		return this.database.node().single((session) -> {
			long now = session.now();
			return session.query("select id, claiming, in_flight, reported_at from {node} where reported_at >= ?"
					+ " order by reported_at desc, id limit ?", (rs, rowNum) -> {
						Activity activity = (rs.getInt(2) != 0) ? Activity.CLAIMING : Activity.PAUSED;
						return new NodeState.Reported(new NodeState(rs.getString(1), activity, rs.getInt(3)),
								Duration.ofMillis(Math.max(0, now - rs.getLong(4))));
					}, oldest(now), DelayedTaskStore.MAX_NODES);
		});
	}

	private static long oldest(long now) {
		return now - DelayedTaskStore.NODE_RETENTION.toMillis();
	}

	Map<String, StoredCounts> count(Collection<String> names) {
		Dialect dialect = this.database.dialect();
		return this.database.node().single((session) -> {
			List<String> all = names.isEmpty() ? List.copyOf(TaskNames.all(session))
					: names.stream().filter(TaskLimits::isStorableName).toList();
			int limit = Math.min(MAX_EXACT, Math.max(MIN_EXACT, MAX_COUNTED / Math.max(1, all.size())));
			long now = session.now();
			Map<String, StoredCounts> counts = new HashMap<>();
			for (String name : all) {
				Object text = dialect.text(name);
				session.query(COUNT.formatted(limit), (rs, rowNum) -> counts(rs, limit), text, text, now, text, text)
					.stream()
					.filter((count) -> count.pending() + count.running() + count.dead() > 0)
					.forEach((count) -> counts.put(name, count));
			}
			if (dialect.isPostgres() && counts.values().stream().anyMatch(StoredCounts::estimated)) {
				Map<String, long[]> samples = sample(session, now);
				counts.replaceAll((name, count) -> count.estimated()
						? estimate(count, samples.getOrDefault(name, new long[4]), limit) : count);
			}
			return counts;
		});
	}

	private static StoredCounts counts(ResultSet rs, int limit) throws SQLException {
		long pending = rs.getLong(1);
		long running = rs.getLong(3);
		long dead = rs.getLong(4);
		return new StoredCounts(pending, rs.getLong(2), running, dead,
				Math.max(Math.max(pending, running), dead) >= limit);
	}

	/**
	 * Counts in some pages of the table. A table that has grown in the meantime keeps
	 * most of these pages, so that the figures do not jump.
	 */
	private static Map<String, long[]> sample(Session session, long now) {
		long pages = session.query(PAGES, (rs, rowNum) -> rs.getLong(1)).get(0);
		double share = Math.min(1, (double) SAMPLED_PAGES / Math.max(1, pages));
		Map<String, long[]> samples = new HashMap<>();
		session.query(SAMPLE, (rs, rowNum) -> {
			long[] numbers = new long[4];
			for (int i = 0; i < numbers.length; i++) {
				numbers[i] = Math.round(rs.getLong(i + 2) / share);
			}
			samples.put(rs.getString(1), numbers);
			return numbers;
		}, now, 100 * share);
		return samples;
	}

	private static StoredCounts estimate(StoredCounts exact, long[] sample, int limit) {
		long pending = larger(exact.pending(), sample[0], limit);
		return new StoredCounts(pending, Math.min(pending, larger(exact.overdue(), sample[1], limit)),
				larger(exact.running(), sample[2], limit), larger(exact.dead(), sample[3], limit), true);
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
		for (String name : query.pending()
			.keySet()
			.stream()
			.sorted(Comparator.comparing(query.pending()::get))
			.toList()) {
			counted += Objects.requireNonNull(query.pending().get(name));
			((counted <= MAX_COUNTED) ? few : many).add(name);
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
		}, from, span, names.stream().filter(TaskLimits::isStorableName).map(dialect::text).toList(), from,
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
