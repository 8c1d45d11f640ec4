package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Stores many tasks in one transaction. Like {@link Enqueueing} it locks no absent keys.
 */
class BulkEnqueueing {

	private final Database database;

	private final Enqueueing single;

	private final NewRows rows;

	private final String idsById;

	private final String idsByKeys;

	private final String lockByIds;

	/**
	 * Creates a bulk.
	 * @param single stores tasks whose keys are taken meanwhile
	 */
	BulkEnqueueing(Database database, Enqueueing single) {
		this.database = database;
		this.single = single;
		this.rows = new NewRows(database);
		TableName table = database.table();
		this.idsById = "select id from %s where id in ".formatted(table);
		this.idsByKeys = "select id from %s where name = ? and pending_key in ".formatted(table);
		this.lockByIds = "select %s from %s where id in %%s and status = %d order by id for update"
			.formatted(TaskRow.COLUMNS, table, Status.PENDING);
	}

	/**
	 * Stores tasks.
	 * @return what has become of each, in this order
	 */
	final List<Enqueued> enqueueAll(List<NewTask> tasks, @Nullable JdbcOperations joined) {
		for (NewTask task : tasks) {
			TaskLimits.checkName(task.name());
			TaskLimits.checkKey(task.key());
		}
		List<List<NewTask>> batches = EnqueueBatches.of(tasks);
		Map<String, Enqueued> enqueued = (joined != null) ? Savepoints.allOrNone(joined, () -> joinAll(joined, batches))
				: aloneAll(batches);
		return tasks.stream().map((task) -> Objects.requireNonNull(enqueued.get(task.id()))).toList();
	}

	/**
	 * Outside of a transaction.
	 * @return what has become of each task, by its id
	 */
	Map<String, Enqueued> aloneAll(List<List<NewTask>> batches) {
		return this.database.application().transaction((jdbc, status) -> joinAll(jdbc, batches));
	}

	private Map<String, Enqueued> joinAll(JdbcOperations jdbc, List<List<NewTask>> batches) {
		Map<String, Enqueued> enqueued = new HashMap<>();
		batches.forEach((batch) -> enqueued.putAll(storeAll(jdbc, batch)));
		return enqueued;
	}

	/**
	 * Stores tasks whose keys differ.
	 * @return what has become of each, by its id
	 */
	Map<String, Enqueued> storeAll(JdbcOperations jdbc, List<NewTask> batch) {
		long now = this.database.now(jdbc);
		Map<TaskId, TaskRow> pending = pending(jdbc, batch);
		Map<String, Enqueued> enqueued = new HashMap<>();
		List<NewTask> inserts = new ArrayList<>();
		List<Object[]> replacements = new ArrayList<>();
		for (NewTask task : batch) {
			Enqueued inserted = NewRows.inserted(task, now);
			TaskRow row = (task.key() != null) ? pending.get(new TaskId(task.name(), task.key())) : null;
			if (row == null) {
				inserts.add(task);
				enqueued.put(task.id(), inserted);
			}
			else if (task.ifPending() == IfPending.REPLACE) {
				replacements.add(NewRows.replacement(task, inserted, row));
				enqueued.put(task.id(), NewRows.replaced(inserted, row));
			}
			else {
				enqueued.put(task.id(), NewRows.kept(row, now));
			}
		}
		if (!replacements.isEmpty()) {
			jdbc.batchUpdate(this.rows.replace(), replacements);
		}
		insertAll(jdbc, inserts.stream().filter((task) -> task.key() == null).toList(), enqueued, "");
		insertAllUnlessPending(jdbc, inserts.stream().filter((task) -> task.key() != null).toList(), enqueued);
		return enqueued;
	}

	private void insertAll(JdbcOperations jdbc, List<NewTask> tasks, Map<String, Enqueued> enqueued,
			String unlessPending) {
		if (!tasks.isEmpty()) {
			jdbc.batchUpdate(this.rows.insert() + unlessPending,
					tasks.stream()
						.map((task) -> this.rows.insertion(task, Objects.requireNonNull(enqueued.get(task.id()))))
						.toList());
		}
	}

	/**
	 * Stores tasks whose keys seemed to be free, and those one by one whose are not.
	 */
	private void insertAllUnlessPending(JdbcOperations jdbc, List<NewTask> tasks, Map<String, Enqueued> enqueued) {
		if (tasks.isEmpty()) {
			return;
		}
		try {
			insertAll(jdbc, tasks, enqueued, this.database.dialect().unlessPending());
		}
		catch (DuplicateKeyException ex) {
			// The others are stored.
		}
		List<@Nullable Object> ids = new ArrayList<>();
		Dialect.padded(ids, tasks.stream().map(NewTask::id).toList());
		Set<String> stored = new HashSet<>(
				jdbc.queryForList(this.idsById + Dialect.placeholders(tasks.size()), String.class, ids.toArray()));
		for (NewTask task : tasks) {
			if (!stored.contains(task.id())) {
				enqueued.put(task.id(), this.single.join(jdbc, task));
			}
		}
	}

	/**
	 * The pending tasks with the keys of others, locked.
	 */
	private Map<TaskId, TaskRow> pending(JdbcOperations jdbc, List<NewTask> tasks) {
		Dialect dialect = this.database.dialect();
		Map<String, List<Object>> keys = new TreeMap<>();
		for (NewTask task : tasks) {
			if (task.key() != null) {
				keys.computeIfAbsent(task.name(), (name) -> new ArrayList<>()).add(dialect.text(task.key()));
			}
		}
		List<String> ids = new ArrayList<>();
		keys.forEach((name, values) -> {
			List<@Nullable Object> parameters = new ArrayList<>(List.of(dialect.text(name)));
			Dialect.padded(parameters, values);
			ids.addAll(jdbc.queryForList(this.idsByKeys + Dialect.placeholders(values.size()), String.class,
					parameters.toArray()));
		});
		Map<TaskId, TaskRow> pending = new HashMap<>();
		if (!ids.isEmpty()) {
			List<@Nullable Object> parameters = new ArrayList<>();
			Dialect.padded(parameters, ids);
			jdbc.query(this.lockByIds.formatted(Dialect.placeholders(ids.size())), (rs) -> {
				TaskRow row = TaskRow.read(rs, dialect);
				pending.put(new TaskId(row.name(), Objects.requireNonNull(row.key())), row);
			}, parameters.toArray());
		}
		return pending;
	}

}
