package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.Position;

/**
 * Reads pages of tasks, and keeps and reads what nodes report. Takes no locks.
 */
final class Reads {

	private final Database database;

	Reads(Database database) {
		this.database = database;
	}

	/**
	 * Reads a page of the pending or dead tasks of a name from their index. PostgreSQL
	 * finds the position in the index also among many tasks with the same time. Each
	 * order begins with the first columns of the index, since H2 would sort all tasks
	 * otherwise.
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

	/**
	 * Keeps the report of a node. If another node with the same id writes its first
	 * report at the same moment, the statements run again.
	 */
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

}
