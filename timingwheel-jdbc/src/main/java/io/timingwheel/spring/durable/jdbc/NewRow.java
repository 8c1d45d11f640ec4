package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

/**
 * A new task as a row of the table. The new task gets a new row, or replaces the pending
 * task in its row.
 *
 * @param task the task
 * @param now the time by the database's clock
 * @param dueAt when the task is due
 * @param firstAt the time of the first call since the task last began, {@code null} if no
 * call had a longest wait
 * @param lease the lease that the task has from the start, {@code null} for none
 */
record NewRow(NewTask task, long now, long dueAt, @Nullable Long firstAt, @Nullable LeaseOffer lease) {

	static final long FIRST_FENCE = 1;

	/**
	 * Makes a row.
	 * @param pending the pending task with the key of the new task, {@code null} for none
	 */
	static NewRow of(NewTask task, long now, @Nullable TaskRow pending) {
		// Calls before the task last began do not count.
		Long firstAt = (pending != null && pending.deliveries() == 0) ? pending.firstAt() : null;
		if (firstAt == null && task.maxWait() != null) {
			firstAt = now;
		}
		long dueAt = task.dueAt(now, (pending != null) ? pending.dueAt() : null, (firstAt != null) ? firstAt : now);
		return new NewRow(task, now, dueAt, firstAt, LeaseTimes.accepted(task.lease(), dueAt, now));
	}

	/**
	 * Whether a task is stored even if its key is pending, and is then due at a time that
	 * does not depend on the pending task.
	 */
	static boolean overwrites(NewTask task) {
		return task.key() == null || (task.ifPending() == IfPending.REPLACE && task.maxWait() == null);
	}

	/**
	 * The statement for {@link #insertValues}.
	 */
	static String insert(TableName table) {
		return "insert into " + table
				+ " (id, name, task_key, pending_key, payload, traceparent, due_at, first_at, next_at, status, owner,"
				+ " fence, attempt, deliveries, lost_deliveries, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, "
				+ TaskRow.PENDING + ", ?, " + FIRST_FENCE + ", 1, 0, 0, ?)";
	}

	Object[] insertValues(Dialect dialect) {
		Object key = dialect.nullableText(this.task.key());
		return Parameters.of(this.task.id(), dialect.text(this.task.name()), key, key,
				dialect.payload(this.task.payload()), this.task.traceparent(), this.dueAt, this.firstAt, nextAt(),
				LeaseTimes.owner(this.lease), this.now);
	}

	/**
	 * The statement for {@link #replaceValues}.
	 */
	static String replace(TableName table) {
		return "update " + table
				+ " set id = ?, payload = ?, traceparent = ?, due_at = ?, first_at = ?, next_at = ?, owner = ?, "
				+ TaskRow.RAISE_FENCE + ", attempt = 1, deliveries = 0, lost_deliveries = 0, suspect = 0, alone = 0,"
				+ " error = null, created_at = ? where id = ?";
	}

	Object[] replaceValues(TaskRow pending, Dialect dialect) {
		return Parameters.of(this.task.id(), dialect.payload(this.task.payload()), this.task.traceparent(), this.dueAt,
				this.firstAt, nextAt(), LeaseTimes.owner(this.lease), TaskRow.micros(this.now), this.now, pending.id());
	}

	private long nextAt() {
		return LeaseTimes.nextAt(this.dueAt, this.now, this.lease);
	}

	Enqueued inserted() {
		return new Enqueued(Outcome.INSERTED, this.task.id(), FIRST_FENCE, this.dueAt, this.now, this.lease != null);
	}

	Enqueued replaced(TaskRow pending) {
		return new Enqueued(Outcome.REPLACED, this.task.id(), pending.nextFence(this.now), this.dueAt, this.now,
				this.lease != null);
	}

	Enqueued kept(TaskRow pending) {
		return new Enqueued(Outcome.PENDING, pending.id(), pending.fence(), pending.dueAt(), this.now, false);
	}

}
