package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;

/**
 * What operators do with dead tasks: requeue and discard.
 */
final class DeadTasks {

	private static final Duration MAX_WAIT = Duration.ofSeconds(3);

	private final Database database;

	private final LeasedTasks leased;

	DeadTasks(Database database, LeasedTasks leased) {
		this.database = database;
		this.leased = leased;
	}

	List<Requeue> requeue(List<String> ids) {
		List<String> different = ids.stream().distinct().toList();
		List<Requeue> results = this.leased.each(different, MAX_WAIT, Requeue.KEY_PENDING, this::requeue);
		return ids.stream().map((id) -> results.get(different.indexOf(id))).toList();
	}

	private Requeue requeue(Session session, String id) {
		TaskRow row = session.lock(List.of(id)).get(id);
		if (row == null || row.status != TaskRow.DEAD) {
			return Requeue.NOT_DEAD;
		}
		long now = session.now();
		row.schedule(now);
		if (LeasedTasks.isTaken(session, row)) {
			return Requeue.KEY_PENDING;
		}
		row.reset();
		row.fence = row.nextFence(now);
		row.firstAt = null;
		row.diedAt = null;
		session.write(List.of(row));
		return Requeue.REQUEUED;
	}

	int discard(Collection<String> ids) {
		return ids.isEmpty() ? 0 : this.database.node()
			.single((session) -> session.update("delete from {task} where id {in} and status = {dead}", ids));
	}

	/** Discards the tasks of any name that have been dead for longer than a time. */
	int discardOlder(Duration age, int limit) {
		List<String> ids = this.database.node().single((session) -> {
			long before = session.now() - Session.millis(age);
			List<String> found = new ArrayList<>();
			for (String name : TaskNames.withDeadTasks(session)) {
				if (found.size() < limit) {
					found.addAll(session.strings(
							"select id from {task} where name = ? and died_at < ? order by name, died_at, id limit ?",
							session.dialect().text(name), before, limit - found.size()));
				}
			}
			return found;
		});
		return discard(ids);
	}

}
