package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.function.Function;

import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Cancels and moves pending tasks, in the caller's transaction if there is one. A task is
 * looked up by its key without locks and then changed by its id: in the transactions of
 * MySQL that read repeatably, a lock by the key would keep others from the keys next to
 * it.
 */
final class PendingTasks {

	private final Database database;

	private final String idByKey;

	private final String delete;

	private final String lock;

	private final String move;

	PendingTasks(Database database) {
		this.database = database;
		TableName table = database.table();
		this.idByKey = "select id from %s where name = ? and pending_key = ?".formatted(table);
		this.delete = "delete from %s where id = ? and status = %d".formatted(table, Status.PENDING);
		this.lock = "select %s, payload from %s where id = ? and status = %d for update".formatted(TaskRow.COLUMNS,
				table, Status.PENDING);
		this.move = "update %s set due_at = ?, next_at = ?, owner = ?, fence = fence + 1 where id = ?".formatted(table);
	}

	boolean cancel(TaskId taskId, @Nullable JdbcOperations joined) {
		String id = id(taskId, joined);
		while (id != null && !cancel(id, joined)) {
			id = another(id, taskId, joined);
		}
		return id != null;
	}

	boolean cancel(String id, @Nullable JdbcOperations joined) {
		return run(joined, (jdbc) -> jdbc.update(this.delete, id)) > 0;
	}

	@Nullable Rescheduled reschedule(TaskId taskId, DueTime due, @Nullable LeaseOffer lease, @Nullable JdbcOperations joined) {
		String id = id(taskId, joined);
		Rescheduled moved = (id != null) ? reschedule(id, due, lease, joined) : null;
		while (id != null && moved == null) {
			id = another(id, taskId, joined);
			moved = (id != null) ? reschedule(id, due, lease, joined) : null;
		}
		return moved;
	}

	@Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease, @Nullable JdbcOperations joined) {
		if (joined != null) {
			return lockAndMove(joined, due, lease, id);
		}
		return this.database.application()
			.<@Nullable Rescheduled>transaction((jdbc, status) -> lockAndMove(jdbc, due, lease, id));
	}

	private @Nullable String id(TaskId taskId, @Nullable JdbcOperations joined) {
		Dialect dialect = this.database.dialect();
		return this.<@Nullable String>run(joined, (jdbc) -> Rows.first(jdbc, this.idByKey,
				(rs, rowNum) -> rs.getString("id"), dialect.text(taskId.name()), dialect.text(taskId.key())));
	}

	/**
	 * The task that has the key now.
	 * @param id of the task that is no longer pending
	 * @return {@code null} if there is none, or if this transaction cannot see it
	 */
	private @Nullable String another(String id, TaskId taskId, @Nullable JdbcOperations joined) {
		String current = id(taskId, joined);
		return id.equals(current) ? null : current;
	}

	private <T extends @Nullable Object> T run(@Nullable JdbcOperations joined, Function<JdbcOperations, T> statement) {
		return (joined != null) ? statement.apply(joined) : this.database.application().single(statement);
	}

	private @Nullable Rescheduled lockAndMove(JdbcOperations jdbc, DueTime due, @Nullable LeaseOffer lease, String id) {
		Dialect dialect = this.database.dialect();
		WithPayload found = Rows.first(jdbc, this.lock,
				(rs, rowNum) -> new WithPayload(TaskRow.read(rs, dialect), rs.getString("payload")), id);
		if (found == null) {
			return null;
		}
		TaskRow row = found.row();
		long now = this.database.now(jdbc);
		long dueAt = due.resolve(now);
		boolean leased = Times.accepted(lease, dueAt, now);
		long nextAt = Times.leaseEnd(dueAt, now, (leased && lease != null) ? lease.lease() : Duration.ZERO);
		jdbc.update(this.move, dueAt, leased ? nextAt : dueAt, (leased && lease != null) ? lease.owner() : null,
				row.id());
		LeasedTask task = new LeasedTask(row.id(), row.fence() + 1, row.name(), row.key(), found.payload(), dueAt,
				false, row.attempt(), row.deliveries(), row.lostDeliveries());
		return new Rescheduled(task, now, leased);
	}

	private record WithPayload(TaskRow row, String payload) {

	}

}
