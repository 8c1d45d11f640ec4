package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * A row without what may be large.
 *
 * @param leased whether a node has it
 */
record TaskRow(String id, String name, @Nullable String key, long dueAt, int status, boolean leased, long fence,
		int attempt, int deliveries, int lostDeliveries) {

	static final String COLUMNS = "id, name, task_key, due_at, status, owner, fence, attempt, deliveries, lost_deliveries";

	static TaskRow read(ResultSet rs, Dialect dialect) throws SQLException {
		return new TaskRow(rs.getString("id"), name(rs, dialect), dialect.text(rs, "task_key"), rs.getLong("due_at"),
				rs.getInt("status"), rs.getString("owner") != null, rs.getLong("fence"), rs.getInt("attempt"),
				rs.getInt("deliveries"), rs.getInt("lost_deliveries"));
	}

	static String name(ResultSet rs, Dialect dialect) throws SQLException {
		String name = dialect.text(rs, "name");
		return (name != null) ? name : "";
	}

	/**
	 * Whether a node that was given this reference has the task.
	 */
	boolean isHeldAs(TaskRef task) {
		return this.leased && this.fence == task.fence();
	}

	boolean isPending() {
		return this.status == Status.PENDING;
	}

	boolean isRunning() {
		return this.status == Status.RUNNING;
	}

}
