package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;

/**
 * What operators do with dead tasks: requeue and discard.
 */
final class DeadTasks {

	/**
	 * How long the waits of one call for other transactions may take that were in vain.
	 */
	private static final long MAX_WAIT = Duration.ofSeconds(3).toNanos();

	private final Database database;

	private final Settlements settlements;

	private final TaskNames names;

	DeadTasks(Database database) {
		this.database = database;
		this.settlements = new Settlements(database);
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
			Requeue result = (waited < MAX_WAIT) ? this.settlements.<Requeue>takeKey((session) -> requeue(session, id))
					: null;
			waited += (result == null) ? System.nanoTime() - start : 0;
			results.putIfAbsent(id, (result != null) ? result : Requeue.KEY_PENDING);
		}
		return ids.stream().map(results::get).toList();
	}

	private Requeue requeue(Session session, String id) {
		TaskRow row = session.lock(List.of(id)).get(id);
		if (row == null || row.status != TaskRow.DEAD) {
			return Requeue.NOT_DEAD;
		}
		long now = session.now();
		row.schedule(now);
		if (Settlements.isTaken(session, row)) {
			return Requeue.KEY_PENDING;
		}
		row.reset();
		row.fence = row.nextFence(now);
		row.firstAt = null;
		row.diedAt = null;
		session.write(List.of(row));
		return Requeue.REQUEUED;
	}

	/**
	 * Discard: dead tasks are gone.
	 */
	int discard(Collection<String> ids) {
		return ids.isEmpty() ? 0 : this.database.node()
			.single((session) -> session.update("delete from {task} where id {in} and status = {dead}", ids));
	}

	/**
	 * Discard, of the tasks of any name that have been dead for longer than a time. Reads
	 * the names that have dead tasks, and of each the first ones.
	 */
	int discardOlder(Duration age, int limit) {
		List<String> ids = this.database.node().single((session) -> {
			long before = session.now() - Session.millis(age);
			List<String> found = new ArrayList<>();
			for (String name : this.names.withDeadTasks(session)) {
				if (found.size() < limit) {
					found.addAll(session.strings(
							"select id from {task} where name = ? and died_at < ?"
									+ " order by name, died_at, id limit ?",
							session.dialect().text(name), before, limit));
				}
			}
			return found.subList(0, Math.min(limit, found.size()));
		});
		return discard(ids);
	}

}
