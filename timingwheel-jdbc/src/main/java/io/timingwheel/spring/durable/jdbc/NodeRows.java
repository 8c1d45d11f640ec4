package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.NodeState;
import io.timingwheel.spring.durable.ReportedNode;

/**
 * The rows of the nodes. Each node writes its own row only. A node that begins deletes
 * the rows of nodes that have not reported for long, so there are few rows.
 */
final class NodeRows {

	private final Database database;

	private final String table;

	NodeRows(Database database) {
		this.database = database;
		this.table = database.table().nodeTable();
	}

	/**
	 * Writes the row of a node. If another node with the same id writes its first row at
	 * the same moment, the statements run again.
	 */
	void report(NodeState state) {
		int claiming = state.claiming() ? 1 : 0;
		this.database.store().single((jdbc) -> {
			long now = this.database.now(jdbc);
			int updated = jdbc.update(
					"update " + this.table + " set claiming = ?, in_flight = ?, reported_at = ? where id = ?", claiming,
					state.inFlight(), now, state.nodeId());
			if (updated == 0) {
				jdbc.update("delete from " + this.table + " where reported_at < ?", oldest(now));
				jdbc.update("insert into " + this.table + " (id, claiming, in_flight, reported_at) values (?, ?, ?, ?)",
						state.nodeId(), claiming, state.inFlight(), now);
			}
			return updated;
		});
	}

	void forget(String nodeId) {
		this.database.store().single((jdbc) -> jdbc.update("delete from " + this.table + " where id = ?", nodeId));
	}

	List<ReportedNode> read() {
		return this.database.store().single((jdbc) -> {
			long now = this.database.now(jdbc);
			return jdbc.query(
					"select id, claiming, in_flight, reported_at from " + this.table
							+ " where reported_at >= ? order by reported_at desc, id limit ?",
					(rs, rowNum) -> new ReportedNode(
							new NodeState(rs.getString("id"), rs.getInt("claiming") != 0, rs.getInt("in_flight")),
							Duration.ofMillis(Math.max(0, now - rs.getLong("reported_at")))),
					oldest(now), DelayedTaskStore.MAX_NODES);
		});
	}

	private static long oldest(long now) {
		return now - DelayedTaskStore.NODE_RETENTION.toMillis();
	}

}
