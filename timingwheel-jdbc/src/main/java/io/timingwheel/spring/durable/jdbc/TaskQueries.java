package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

import io.timingwheel.spring.durable.DelayedTaskStore.Kind;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Reads tasks without locks.
 */
final class TaskQueries {

	private static final String COLUMNS = TaskRow.COLUMNS + ", error, died_at";

	private final Database database;

	private final Dialect dialect;

	TaskQueries(Database database) {
		this.database = database;
		this.dialect = database.dialect();
	}

	/**
	 * Finds a pending task or a schedule, in the caller's transaction if there is one,
	 * since this transaction may have stored the task.
	 */
	Optional<StoredTask> find(TaskId taskId, Kind kind, @Nullable JdbcOperations joined) {
		return switch (kind) {
			case ONCE -> find("pending_key", taskId, joined);
			case SCHEDULE -> find("schedule_key", taskId, joined);
			case EITHER -> find(taskId, Kind.ONCE, joined).or(() -> find(taskId, Kind.SCHEDULE, joined));
		};
	}

	private Optional<StoredTask> find(String column, TaskId taskId, @Nullable JdbcOperations joined) {
		return one(joined, "name = ? and " + column + " = ?", this.dialect.text(taskId.name()),
				this.dialect.text(taskId.key()));
	}

	/**
	 * Finds a task, in the caller's transaction if there is one.
	 */
	Optional<StoredTask> find(String id, @Nullable JdbcOperations joined) {
		return one(joined, "id = ?", id);
	}

	private Optional<StoredTask> one(@Nullable JdbcOperations joined, String condition, Object... parameters) {
		return this.database.single(joined, (jdbc) -> list(jdbc, condition, parameters)).stream().findFirst();
	}

	/**
	 * Reads a page of the pending tasks of a name from their index. PostgreSQL finds the
	 * position in the index also among many tasks with the same due time. The order
	 * begins with the first columns of the index, since H2 would sort all tasks
	 * otherwise.
	 */
	List<StoredTask> pending(PendingQuery query) {
		StoredTask.Position after = query.after();
		StoredTask.Position start = (after != null) ? after : new StoredTask.Position(Long.MIN_VALUE, "");
		return this.database.store()
			.single((jdbc) -> list(jdbc,
					"name = ? and status = " + TaskRow.PENDING + " and due_at >= ? and (due_at, id) > (?, ?)"
							+ " order by name, status, due_at, id limit ?",
					this.dialect.text(query.name()), start.dueAt(), start.dueAt(), start.id(), query.limit()));
	}

	List<StoredTask> dead(String name, int limit) {
		return new DeadRows(this.database).read(name, true, null, limit, COLUMNS, (rs, rowNum) -> read(rs));
	}

	private List<StoredTask> list(JdbcOperations jdbc, String condition, Object... parameters) {
		return jdbc.query("select " + COLUMNS + " from " + this.database.table() + " where " + condition,
				(rs, rowNum) -> read(rs), parameters);
	}

	private StoredTask read(ResultSet rs) throws SQLException {
		TaskRow row = TaskRow.read(rs, this.dialect);
		return new StoredTask(row.id(), row.name(), row.key(), row.dueAt(), TaskRow.state(row.status()), row.attempt(),
				row.deliveries(), rs.getString("error"), row.schedule(), rs.getObject("died_at", Long.class));
	}

}
