package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask.Position;
import io.timingwheel.spring.durable.store.TaskLimits;

/**
 * The part of the store for operators: pages and counts of tasks, what happens to dead
 * tasks, and what nodes report. The cost of counts does not grow with the table: of each
 * name and state a limited number of rows is counted exactly. Beyond it PostgreSQL counts
 * in some pages of the table, and the other databases give a lower bound.
 */
abstract class OperatorCalls extends NodeCalls {

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
					order by name, status, due_at limit %1$s) a),
				(select count(*) from (select due_at from {task} where name = ? and status = {pending}
					and due_at <= ? order by name, status, due_at limit %1$s) b),
				(select count(*) from (select next_at from {task} where name = ? and queue = {running}
					and next_at is not null order by name, queue, next_at limit %1$s) c),
				(select count(*) from (select died_at from {task} where name = ? and died_at is not null
					order by name, died_at limit %1$s) d)""";

	/**
	 * Counts in some pages of the table. A table that has grown in the meantime keeps
	 * most of these pages, so that the figures do not jump.
	 */
	private static final String SAMPLE = """
			with scale as (
				select greatest(1, pg_relation_size('{task}') / current_setting('block_size')::float8 / %s) as factor
			)
			select factor * count(*) filter (where status = {pending}),
				factor * count(*) filter (where status = {pending} and due_at <= ?),
				factor * count(*) filter (where status = {running}), factor * count(*) filter (where status = {dead}), name
			from scale, {task} tablesample system ((select 100 / factor from scale)) repeatable (1)
			group by name, factor"""
		.formatted(SAMPLED_PAGES);

	private static final String FORECAST = """
			select span, count(*) from (select floor((due_at - ?) / ?) as span from {task}
				where name = ? and status = {pending} and due_at >= ? and due_at < ?
				order by name, status, due_at limit ?) counted
			group by span""";

	private static final Duration MAX_REQUEUE_WAIT = Duration.ofSeconds(3);

	private static final long RETENTION = DelayedTaskStore.NODE_RETENTION.toMillis();

	OperatorCalls(Database database) {
		super(database);
	}

	// Each order begins with the first columns of an index, or H2 would sort all tasks.
	@Override
	public ListQuery.Page list(ListQuery query) {
		boolean dead = query.order() == ListQuery.Order.DEAD_LATEST_FIRST;
		String sql = "select {columns} from {task} where name = ? and "
				+ (dead ? "died_at <= ? and (died_at, id) < (?, ?) order by name desc, died_at desc, id desc limit ?"
						: "status = {pending} and due_at >= ? and (due_at, id) > (?, ?)"
								+ " order by name, status, due_at, id limit ?");
		Position after = (query.after() != null) ? query.after()
				: new Position(dead ? Long.MAX_VALUE : Long.MIN_VALUE, "");
		List<TaskRow> rows = this.database.node()
			.single((session) -> session.rows(sql, session.dialect().text(query.name()), after.time(), after.time(),
					after.id(), query.limit() + 1));
		return new ListQuery.Page(rows.stream().limit(query.limit()).map(TaskRow::stored).toList(),
				rows.size() > query.limit());
	}

	@Override
	public List<Requeue> requeue(List<String> ids) {
		Map<String, Requeue> results = each(new LinkedHashSet<>(ids), MAX_REQUEUE_WAIT, OperatorCalls::requeue);
		return ids.stream().map((id) -> results.getOrDefault(id, Requeue.KEY_PENDING)).toList();
	}

	private static Requeue requeue(Session session, String id) {
		TaskRow row = session.lock(List.of(id)).get(id);
		if (row == null || row.status != TaskRow.DEAD) {
			return Requeue.NOT_DEAD;
		}
		long now = session.now();
		row.schedule(now);
		if (isTaken(session, row)) {
			return Requeue.KEY_PENDING;
		}
		row.reset();
		row.fence = row.nextFence(now);
		row.firstAt = null;
		row.diedAt = null;
		session.write(List.of(row));
		return Requeue.REQUEUED;
	}

	@Override
	public int discard(List<String> ids) {
		return ids.isEmpty() ? 0 : this.database.node()
			.single((session) -> session.update("delete from {task} where id {in} and status = {dead}", ids));
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		List<String> ids = this.database.node().single((session) -> {
			long before = session.now() - Session.millis(age);
			return TaskNames.names(session, "died_at is not null")
				.stream()
				.flatMap((name) -> session
					.strings("select id from {task} where name = ? and died_at < ? order by name, died_at, id limit ?",
							session.dialect().text(name), before, limit)
					.stream())
				.limit(limit)
				.toList();
		});
		return discard(ids);
	}

	@Override
	public void setPaused(String name, boolean paused) {
		this.database.node().transaction((session) -> TaskNames.set(session, name, "paused", paused));
	}

	@Override
	public void heartbeat(NodeState state) {
		Long given = this.database.givenTime();
		this.database.node().single((session) -> {
			if (state.activity() == Activity.ENDED) {
				return session.update("delete from {node} where id = ?", state.nodeId());
			}
			int claiming = (state.activity() == Activity.CLAIMING) ? 1 : 0;
			int updated = session.update(
					"update {node} set reported_at = {now}, claiming = ?, in_flight = ? where id = ?", given, claiming,
					state.inFlight(), state.nodeId());
			if (updated == 0) {
				session.update("delete from {node} where reported_at < {now} - ?", given, RETENTION);
				session.update("insert into {node} (reported_at, claiming, in_flight, id) values ({now}, ?, ?, ?)",
						given, claiming, state.inFlight(), state.nodeId());
			}
			return updated;
		});
	}

	@Override
	public List<NodeState.Reported> nodes() {
		Long given = this.database.givenTime();
		String sql = "select id, claiming, in_flight, {now} - reported_at from {node} where reported_at >= {now} - ?"
				+ " order by reported_at desc, id limit ?";
		return this.database.node().single((session) -> session.query(sql, (rs, rowNum) -> {
			Activity activity = (rs.getInt(2) != 0) ? Activity.CLAIMING : Activity.PAUSED;
			return new NodeState.Reported(new NodeState(rs.getString(1), activity, rs.getInt(3)),
					Duration.ofMillis(Math.max(0, rs.getLong(4))));
		}, given, given, RETENTION, DelayedTaskStore.MAX_NODES));
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		return this.database.node().single((session) -> {
			Collection<String> all = names.isEmpty() ? TaskNames.all(session)
					: names.stream().filter(TaskLimits::isStorableName).toList();
			int limit = Math.min(MAX_EXACT, Math.max(MIN_EXACT, MAX_COUNTED / Math.max(1, all.size())));
			long now = session.now();
			Map<String, long[]> figures = new HashMap<>();
			for (String name : all) {
				Object text = session.dialect().text(name);
				session.forEach(COUNT.formatted(limit), (rs) -> figures.put(name, figures(rs)), text, text, now, text,
						text);
			}
			boolean large = figures.values().stream().anyMatch((some) -> isLarge(some, limit));
			if (large && session.dialect().isPostgres()) {
				session.forEach(SAMPLE, (rs) -> {
					long[] exact = figures.getOrDefault(rs.getString("name"), new long[0]);
					long[] sample = figures(rs);
					// A figure below the limit is exact.
					Arrays.setAll(exact, (i) -> (exact[i] < limit) ? exact[i] : Math.max(exact[i], sample[i]));
				}, now);
			}
			Map<String, StoredCounts> counts = new HashMap<>();
			figures.forEach((name, some) -> counts.put(name,
					new StoredCounts(some[0], Math.min(some[0], some[1]), some[2], some[3], isLarge(some, limit))));
			counts.values().removeIf(StoredCounts.NONE::equals);
			return counts;
		});
	}

	private static long[] figures(ResultSet rs) throws SQLException {
		return new long[] { rs.getLong(1), rs.getLong(2), rs.getLong(3), rs.getLong(4) };
	}

	private static boolean isLarge(long[] figures, int limit) {
		return LongStream.of(figures).anyMatch((figure) -> figure >= limit);
	}

	/** Each name with tasks has an equal share of what is counted at most. */
	@Override
	public Forecast forecast(Forecast.Query query) {
		long names = query.pending().values().stream().filter((pending) -> pending > 0).count();
		int limit = (int) (MAX_COUNTED / Math.max(1, names));
		return this.database.node().single((session) -> {
			long from = session.now();
			long span = query.span().toMillis();
			Map<String, DueCounts> counts = new HashMap<>();
			for (String name : query.pending().keySet()) {
				long[] spans = new long[query.spans()];
				session.forEach(FORECAST, (rs) -> spans[rs.getInt(1)] = rs.getLong(2), from, span,
						session.dialect().text(name), from, from + span * spans.length, limit);
				counts.put(name, complete(spans, limit));
			}
			return new Forecast(from, counts);
		});
	}

	// The span of the last task that is counted may have more tasks.
	private static DueCounts complete(long[] spans, int limit) {
		int complete = spans.length;
		if (LongStream.of(spans).sum() == limit) {
			do {
				complete--;
			}
			while (spans[complete] == 0);
		}
		return new DueCounts(LongStream.of(spans).limit(complete).boxed().toList(), false);
	}

}
