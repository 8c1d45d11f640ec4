package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Tasks locked for a change, as far as nobody else had locked them.
 */
final class LockedTasks {

	private final Map<String, TaskRow> locked;

	private final Map<String, TaskRow> others;

	private LockedTasks(Map<String, TaskRow> locked, Map<String, TaskRow> others) {
		this.locked = locked;
		this.others = others;
	}

	/**
	 * Locks tasks, in the order of their ids so that two calls do not wait for each
	 * other.
	 */
	static LockedTasks lock(JdbcOperations jdbc, Database database, List<TaskRef> tasks) {
		TreeSet<String> ids = new TreeSet<>();
		tasks.forEach((task) -> ids.add(task.id()));
		Map<String, TaskRow> locked = read(jdbc, database, ids, " order by id for update skip locked");
		ids.removeAll(locked.keySet());
		return new LockedTasks(locked, ids.isEmpty() ? Map.of() : read(jdbc, database, ids, ""));
	}

	private static Map<String, TaskRow> read(JdbcOperations jdbc, Database database, Collection<String> ids,
			String suffix) {
		String sql = "select " + TaskRow.COLUMNS + " from " + database.table() + " where id in "
				+ Dialect.placeholders(ids.size()) + suffix;
		List<@Nullable Object> parameters = new ArrayList<>();
		Dialect.padded(parameters, ids);
		Map<String, TaskRow> rows = new HashMap<>();
		jdbc.query(sql, (rs) -> {
			TaskRow row = TaskRow.read(rs, database.dialect());
			rows.put(row.id(), row);
		}, parameters.toArray());
		return rows;
	}

	/**
	 * The task if it is there and locked.
	 */
	@Nullable TaskRow row(TaskRef task) {
		return this.locked.get(task.id());
	}

	/**
	 * What to say of a task that is not locked.
	 */
	Reply replyWithout(TaskRef task, Reply gone) {
		TaskRow row = this.others.get(task.id());
		if (row == null) {
			return gone;
		}
		return (row.fence() == task.fence()) ? Reply.BUSY : Reply.REFUSED;
	}

}
