package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;

import org.springframework.dao.DuplicateKeyException;

/**
 * Decides about dead tasks.
 */
final class DeadTasks {

	private final Database database;

	private final String lock;

	private final String requeue;

	private final String discard;

	private final String discardAll;

	DeadTasks(Database database) {
		this.database = database;
		TableName table = database.table();
		this.lock = "select id from %s where id = ? and status = %d for update".formatted(table, Status.DEAD);
		this.requeue = ("update %s set status = %d, pending_key = task_key, due_at = ?, next_at = ?, fence = fence + 1,"
				+ " attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, died_at = null where id = ?")
			.formatted(table, Status.PENDING);
		this.discard = "delete from %s where id = ? and status = %d".formatted(table, Status.DEAD);
		this.discardAll = "delete from %s where name = ? and status = %d".formatted(table, Status.DEAD);
	}

	Requeue requeue(String id) {
		return this.database.engine().transaction((jdbc, status) -> {
			if (Rows.first(jdbc, this.lock, (rs, rowNum) -> rs.getString("id"), id) == null) {
				return Requeue.NOT_DEAD;
			}
			long now = this.database.now(jdbc);
			Object savepoint = status.createSavepoint();
			try {
				jdbc.update(this.requeue, now, now, id);
				return Requeue.REQUEUED;
			}
			catch (DuplicateKeyException ex) {
				status.rollbackToSavepoint(savepoint);
				return Requeue.KEY_PENDING;
			}
		});
	}

	boolean discard(String id) {
		return this.database.engine().single((jdbc) -> jdbc.update(this.discard, id)) > 0;
	}

	long discardAll(String name) {
		return this.database.engine()
			.single((jdbc) -> jdbc.update(this.discardAll, this.database.dialect().text(name)));
	}

}
