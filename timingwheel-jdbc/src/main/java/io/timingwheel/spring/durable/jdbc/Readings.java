package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Reads without locks.
 */
final class Readings {

	private final Database database;

	private final String select;

	private final String counts;

	Readings(Database database) {
		this.database = database;
		this.select = "select %s, error from %s where ".formatted(TaskRow.COLUMNS, database.table());
		this.counts = ("select name, status, count(*) as tasks, sum(case when due_at <= ? then 1 else 0 end) as due"
				+ " from %s group by name, status")
			.formatted(database.table());
	}

	Optional<StoredTask> find(TaskId taskId, @Nullable JdbcOperations joined) {
		Dialect dialect = this.database.dialect();
		return one(joined, "name = ? and pending_key = ?", dialect.text(taskId.name()), dialect.text(taskId.key()));
	}

	Optional<StoredTask> find(String id, @Nullable JdbcOperations joined) {
		return one(joined, "id = ?", id);
	}

	/**
	 * In the caller's transaction if there is one, which may have stored the task.
	 */
	private Optional<StoredTask> one(@Nullable JdbcOperations joined, String condition, Object... parameters) {
		List<StoredTask> tasks = (joined != null) ? list(joined, condition, parameters)
				: this.database.application().single((jdbc) -> list(jdbc, condition, parameters));
		return tasks.stream().findFirst();
	}

	List<StoredTask> pending(String name, int limit) {
		return list("name = ? and status = " + Status.PENDING + " order by due_at limit ?", name, limit);
	}

	List<StoredTask> dead(String name, int limit) {
		return list("name = ? and status = " + Status.DEAD + " order by died_at desc limit ?", name, limit);
	}

	private List<StoredTask> list(String condition, String name, int limit) {
		Object text = this.database.dialect().text(name);
		return this.database.engine().single((jdbc) -> list(jdbc, condition, text, limit));
	}

	private List<StoredTask> list(JdbcOperations jdbc, String condition, Object... parameters) {
		return jdbc.query(this.select + condition, (rs, rowNum) -> read(rs), parameters);
	}

	private StoredTask read(ResultSet rs) throws SQLException {
		TaskRow row = TaskRow.read(rs, this.database.dialect());
		return new StoredTask(row.id(), row.name(), row.key(), row.dueAt(), Status.of(row.status()), row.attempt(),
				row.deliveries(), rs.getString("error"));
	}

	Map<String, StoredCounts> counts() {
		return this.database.engine().single((jdbc) -> {
			long now = this.database.now(jdbc);
			Map<String, StoredCounts> counts = new HashMap<>();
			jdbc.query(this.counts, (rs) -> {
				counts.merge(TaskRow.name(rs, this.database.dialect()), count(rs), Readings::sum);
			}, now);
			return counts;
		});
	}

	private static StoredCounts count(ResultSet rs) throws SQLException {
		long tasks = rs.getLong("tasks");
		return switch (Status.of(rs.getInt("status"))) {
			case PENDING -> new StoredCounts(tasks, rs.getLong("due"), 0, 0);
			case RUNNING -> new StoredCounts(0, 0, tasks, 0);
			case DEAD -> new StoredCounts(0, 0, 0, tasks);
		};
	}

	private static StoredCounts sum(StoredCounts a, StoredCounts b) {
		return new StoredCounts(a.pending() + b.pending(), a.overdue() + b.overdue(), a.running() + b.running(),
				a.dead() + b.dead());
	}

}
