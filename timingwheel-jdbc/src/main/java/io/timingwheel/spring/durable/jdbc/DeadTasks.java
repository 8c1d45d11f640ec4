package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.DueTime;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * What operators do with dead tasks: requeue and discard.
 */
final class DeadTasks {

	/**
	 * How long the waits of one call for other transactions may take that were in vain.
	 */
	private static final long MAX_WAIT = Duration.ofSeconds(3).toNanos();

	private final Database database;

	private final TakenKeys takenKeys;

	private final TaskNames names;

	DeadTasks(Database database) {
		this.database = database;
		this.takenKeys = new TakenKeys(database);
		this.names = new TaskNames(database);
	}

	/**
	 * Requeue: dead tasks are scheduled with their keys, as if no node had tried them
	 * yet. Each is a transaction of its own, since another transaction may be storing a
	 * task with its key.
	 */
	List<Requeue> requeue(List<String> ids) {
		long waited = 0;
		Map<String, Requeue> results = new HashMap<>();
		for (String id : ids) {
			long start = System.nanoTime();
			Requeue result = (waited < MAX_WAIT) ? this.takenKeys.<Requeue>take((jdbc) -> requeue(jdbc, id)) : null;
			waited += (result == null) ? System.nanoTime() - start : 0;
			results.putIfAbsent(id, (result != null) ? result : Requeue.KEY_PENDING);
		}
		return ids.stream().map(results::get).toList();
	}

	private Requeue requeue(JdbcOperations jdbc, String id) {
		TaskRow row = LockedRows.lock(this.database, jdbc, id);
		if (row == null || row.status() != TaskRow.DEAD) {
			return Requeue.NOT_DEAD;
		}
		if (row.key() != null && this.takenKeys.isTaken(jdbc, row)) {
			return Requeue.KEY_PENDING;
		}
		long now = this.database.now(jdbc);
		jdbc.update(this.database.sql("""
				update {task} set status = {pending}, held_key = ?, due_at = ?, next_at = ?, first_at = null,
					fence = ?, attempt = 1, deliveries = 0, lost = 0, error = null, died_at = null where id = ?"""),
				Parameters.of(row.heldKey(this.database.dialect()), now, now, row.nextFence(now), id));
		return Requeue.REQUEUED;
	}

	/**
	 * Discard: dead tasks are gone.
	 */
	int discard(Collection<String> ids) {
		String sql = this.database
			.sql("delete from {task} where id" + Parameters.isOneOf(ids.size()) + " and status = {dead}");
		return ids.isEmpty() ? 0 : this.database.node().single((jdbc) -> jdbc.update(sql, Parameters.and(ids)));
	}

	/**
	 * Discard, of the tasks of any name that have been dead for longer than a time. Reads
	 * the names that have dead tasks, and of each the first ones.
	 */
	int discardOlder(Duration age, int limit) {
		List<String> ids = this.database.node().single((jdbc) -> {
			long before = this.database.now(jdbc) - DueTime.after(age).resolve(0);
			List<String> found = new ArrayList<>();
			for (String name : this.names.withDeadTasks(jdbc)) {
				if (found.size() < limit) {
					found.addAll(jdbc.queryForList(
							this.database.sql("select id from {task} where name = ? and died_at < ?"
									+ " order by name, died_at, id limit " + Parameters.paddedSize(limit)),
							String.class, this.database.dialect().text(name), before));
				}
			}
			return found.subList(0, Math.min(limit, found.size()));
		});
		return discard(ids);
	}

}
