package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTask;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.transaction.TransactionStatus;

/**
 * Reads, requeues and deletes dead tasks, in short transactions. The index on name, time
 * of death and id gives a page of the dead tasks of a name without reading the others.
 * Each order begins with the name, since H2 uses an index for an order only if both begin
 * with the same column.
 */
final class DeadRows {

	/**
	 * How long a call waits for keys that others are storing. H2 waits two seconds for
	 * one key.
	 */
	private static final Duration MAX_WAIT = Duration.ofSeconds(3);

	private final Database database;

	private final Dialect dialect;

	private final TableName table;

	DeadRows(Database database) {
		this.database = database;
		this.dialect = database.dialect();
		this.table = database.table();
	}

	/**
	 * Reads a page of the dead tasks of a name.
	 */
	DeadTasks read(DeadQuery query) {
		List<DeadTask> tasks = read(query.name(), query.latestFirst(), query.after(), query.limit() + 1,
				"id, died_at, error",
				(rs, rowNum) -> new DeadTask(rs.getString("id"), rs.getLong("died_at"), rs.getString("error")));
		boolean more = tasks.size() > query.limit();
		return new DeadTasks(more ? tasks.subList(0, query.limit()) : tasks, more);
	}

	/**
	 * Reads dead tasks of a name.
	 * @param after the position after which they come, {@code null} for the first ones
	 */
	<T> List<T> read(String name, boolean latestFirst, DeadTask.@Nullable Position after, int limit, String columns,
			RowMapper<T> mapper) {
		String order = latestFirst ? " desc" : "";
		String range = latestFirst ? "died_at <= ? and (died_at < ? or id < ?)"
				: "died_at >= ? and (died_at > ? or id > ?)";
		DeadTask.Position start = (after != null) ? after
				: new DeadTask.Position(latestFirst ? DelayedTaskStore.MAX_TIME : 0, "");
		String sql = "select %1$s from %2$s where name = ? and %3$s order by name%4$s, died_at%4$s, id%4$s limit ?"
			.formatted(columns, this.table, range, order);
		Object text = this.dialect.text(name);
		return this.database.store()
			.single((jdbc) -> jdbc.query(sql, mapper, text, start.diedAt(), start.diedAt(), start.id(), limit));
	}

	/**
	 * Requeue: makes dead tasks pending, as if no node had tried them yet. Usually one
	 * statement changes all tasks. If another transaction stores one of their keys
	 * meanwhile, the tasks follow one by one.
	 */
	List<Requeue> requeue(List<String> ids) {
		Map<String, Requeue> results = requeueAtOnce(ids);
		if (results == null) {
			results = new HashMap<>();
			long start = System.nanoTime();
			for (String id : ids) {
				Map<String, Requeue> one = (System.nanoTime() - start < MAX_WAIT.toNanos()) ? requeueAtOnce(List.of(id))
						: null;
				results.put(id, (one != null) ? one.getOrDefault(id, Requeue.NOT_DEAD) : Requeue.KEY_PENDING);
			}
		}
		Map<String, Requeue> found = results;
		return ids.stream().map((id) -> found.getOrDefault(id, Requeue.NOT_DEAD)).toList();
	}

	/**
	 * Requeues tasks with one statement.
	 * @return the results of those that were dead, {@code null} if a transaction was
	 * storing one of the keys
	 */
	private @Nullable Map<String, Requeue> requeueAtOnce(List<String> ids) {
		return this.database.store().<@Nullable Map<String, Requeue>>transaction((jdbc, status) -> {
			Map<String, @Nullable TaskId> dead = lockDead(jdbc, ids);
			Map<String, Requeue> results = new HashMap<>();
			dead.keySet().forEach((id) -> results.put(id, Requeue.KEY_PENDING));
			Set<String> pending = dead.isEmpty() ? Set.of() : withPendingKey(jdbc, dead.keySet());
			Set<TaskId> keys = new HashSet<>();
			List<String> free = new ArrayList<>();
			for (String id : ids) {
				if (dead.containsKey(id) && !pending.contains(id)) {
					TaskId key = dead.get(id);
					if (key == null || keys.add(key)) {
						free.add(id);
						results.put(id, Requeue.REQUEUED);
					}
				}
			}
			return (free.isEmpty() || makePending(jdbc, status, free)) ? results : null;
		});
	}

	/**
	 * Locks the dead tasks among some tasks. Skips tasks that other transactions have
	 * locked.
	 * @return the keys of the locked tasks by their ids
	 */
	private Map<String, @Nullable TaskId> lockDead(JdbcOperations jdbc, List<String> ids) {
		Map<String, @Nullable TaskId> dead = new HashMap<>();
		jdbc.query("select " + TaskRow.COLUMNS + " from " + this.table + " where id" + Parameters.isOneOf(ids.size())
				+ " and status = " + TaskRow.DEAD + " order by id for update skip locked", (rs) -> {
					TaskRow row = TaskRow.read(rs, this.dialect);
					String key = row.key();
					dead.put(row.id(), (key != null) ? new TaskId(row.name(), key) : null);
				}, Parameters.list(ids));
		return dead;
	}

	private Set<String> withPendingKey(JdbcOperations jdbc, Set<String> ids) {
		return new HashSet<>(
				jdbc.queryForList(
						("select d.id from %1$s d where d.id%2$s and exists"
								+ " (select 1 from %1$s p where p.name = d.name and p.pending_key = d.task_key)")
							.formatted(this.table, Parameters.isOneOf(ids.size())),
						String.class, Parameters.list(ids)));
	}

	/**
	 * Makes tasks pending with their keys.
	 * @return {@code false} if none was changed, since another transaction has stored or
	 * is storing one of the keys
	 */
	private boolean makePending(JdbcOperations jdbc, TransactionStatus status, List<String> ids) {
		long now = this.database.now(jdbc);
		List<@Nullable Object> parameters = new ArrayList<>(List.of(now, now, TaskRow.micros(now)));
		Parameters.addList(parameters, ids);
		try {
			this.dialect.limitLockWait(jdbc);
			Object savepoint = status.createSavepoint();
			try {
				jdbc.update("update " + this.table + " set status = " + TaskRow.PENDING
						+ ", pending_key = task_key, due_at = ?, first_at = null, next_at = ?, " + TaskRow.RAISE_FENCE
						+ ", attempt = 1, deliveries = 0, lost_deliveries = 0, suspect = 0, alone = 0, error = null,"
						+ " died_at = null where id" + Parameters.isOneOf(ids.size()), parameters.toArray());
				return true;
			}
			catch (DuplicateKeyException | CannotAcquireLockException ex) {
				status.rollbackToSavepoint(savepoint);
				return false;
			}
		}
		finally {
			this.dialect.resetLockWait(jdbc);
		}
	}

	/**
	 * Discard: deletes dead tasks.
	 */
	int discard(List<String> ids) {
		if (ids.isEmpty()) {
			return 0;
		}
		String sql = "delete from " + this.table + " where id" + Parameters.isOneOf(ids.size()) + " and status = "
				+ TaskRow.DEAD;
		return this.database.store().single((jdbc) -> jdbc.update(sql, Parameters.list(ids)));
	}

	/**
	 * Deletes tasks of any name that have been dead for longer than a time. Looks up one
	 * name after another in the index.
	 */
	int discardOlder(Duration age, int limit) {
		long before = this.database.store().single(this.database::now) - LeaseTimes.millis(age);
		int discarded = 0;
		String name = nextName(null);
		while (name != null && discarded < limit) {
			discarded += discard(read(new DeadQuery(name, false, null, limit - discarded)).tasks()
				.stream()
				.filter((task) -> task.diedAt() < before)
				.map(DeadTask::id)
				.toList());
			name = nextName(name);
		}
		return discarded;
	}

	private @Nullable String nextName(@Nullable String name) {
		Object[] parameters = (name != null) ? new Object[] { this.dialect.text(name) } : new Object[0];
		return this.database.store()
			.<@Nullable String>single((jdbc) -> jdbc
				.query("select name from " + this.table + ((name != null) ? " where name > ?" : "")
						+ " order by name limit 1", (rs, rowNum) -> TaskRow.name(rs, this.dialect), parameters)
				.stream()
				.findFirst()
				.orElse(null));
	}

}
