package io.timingwheel.spring.durable.jdbc;

import java.util.Objects;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.jspecify.annotations.Nullable;

/**
 * How a settlement changes the row of its task: what to write, and the reply. Immutable.
 *
 * @param reply the reply to the node
 * @param needsKey whether the task has to take its key again, which another task may have
 * @param sql the statement, {@code null} for none
 * @param parameters its parameters
 */
@SuppressWarnings("ArrayRecordComponent")
record SettledRow(Reply reply, boolean needsKey, @Nullable String sql, Object[] parameters) {

	private static final String SCHEDULE = "update {task} set status = {pending}, owner = null, ";

	/**
	 * The decision for a row that the transaction has locked.
	 */
	static SettledRow of(Settlement settlement, TaskRow row, long now, Dialect dialect) {
		if (!row.isHeldAs(settlement.task())) {
			return only(again(settlement, row));
		}
		if (settlement instanceof Settlement.Repeat repeat) {
			return repeat(repeat, row, now, dialect);
		}
		if (settlement instanceof Settlement.Bury bury) {
			return row.last() ? gone(row, Reply.DONE) : write("""
					update {task} set status = {dead}, owner = null, held_key = null, next_at = null, error = ?,
						died_at = ? where id = ?""", dialect.error(bury.reason()), now, row.id());
		}
		if (row.last() && (row.isRunning() || settlement instanceof Settlement.Release)) {
			return gone(row, Reply.SUPERSEDED);
		}
		if (settlement instanceof Settlement.Retry retry) {
			return row.isRunning() ? retry(retry, row, now, dialect) : only(Reply.REFUSED);
		}
		return release((Settlement.Release) settlement, row, dialect);
	}

	/**
	 * Repeat, of a leased or running task: scheduled for its next run, or gone if the
	 * schedule has ended.
	 */
	private static SettledRow repeat(Settlement.Repeat repeat, TaskRow row, long now, Dialect dialect) {
		StoredSchedule schedule = row.schedule();
		boolean same = schedule != null && schedule.text().equals(repeat.schedule());
		if (schedule == null || (same && repeat.next() == null)) {
			return gone(row, Reply.DONE);
		}
		long due = same ? Objects.requireNonNull(repeat.next()).resolve(now) : schedule.scheduledAt();
		return write(SCHEDULE + """
				due_at = ?, next_at = ?, scheduled_at = ?, attempt = 1, deliveries = 0, lost = 0, first_at = null,
				error = ? where id = ?""", due, due, due,
				(repeat.error() != null) ? dialect.error(repeat.error()) : null, row.id());
	}

	/**
	 * Retry, of a running task: scheduled for another attempt.
	 */
	private static SettledRow retry(Settlement.Retry retry, TaskRow row, long now, Dialect dialect) {
		long due = DueTime.after(retry.delay()).resolve(now);
		return schedule(row, "held_key = ?, due_at = ?, next_at = ?, attempt = ?, lost = 0, error = ? where id = ?",
				row.heldKey(dialect), due, due, retry.attempt(), dialect.error(retry.error()), row.id());
	}

	/**
	 * Release, of a leased or running task: scheduled as it was.
	 */
	private static SettledRow release(Settlement.Release release, TaskRow row, Dialect dialect) {
		int undone = (row.isRunning() && !release.started()) ? 1 : 0;
		return schedule(row, "held_key = ?, next_at = due_at, deliveries = ? where id = ?", row.heldKey(dialect),
				row.deliveries() - undone, row.id());
	}

	/**
	 * A task that has begun, or whose delivery was lost, has given up its key.
	 */
	private static SettledRow schedule(TaskRow row, String assignments, @Nullable Object... parameters) {
		boolean needsKey = row.key() != null && row.schedule() == null && (row.isRunning() || row.lost() > 0);
		return new SettledRow(Reply.DONE, needsKey, SCHEDULE + assignments, Parameters.of(parameters));
	}

	/**
	 * The reply for a row that another transaction has locked, or that does not exist.
	 */
	static Reply notLocked(Settlement settlement, @Nullable TaskRow row) {
		return (row != null && row.isHeldAs(settlement.task())) ? Reply.BUSY : again(settlement, row);
	}

	/**
	 * The reply about a task that the caller does not have. The fence stays when a node
	 * gives a task back, so that a repeated call is known by it.
	 */
	private static Reply again(Settlement settlement, @Nullable TaskRow row) {
		boolean done;
		if (row == null) {
			done = settlement instanceof Settlement.Repeat;
		}
		else {
			State settled = (settlement instanceof Settlement.Bury) ? State.DEAD : State.SCHEDULED;
			done = row.fence() == settlement.task().fence() && row.state() == settled;
		}
		return done ? Reply.DONE : Reply.REFUSED;
	}

	/**
	 * Deletes the task.
	 */
	static SettledRow gone(TaskRow row, Reply reply) {
		return new SettledRow(reply, false, "delete from {task} where id = ?", new Object[] { row.id() });
	}

	private static SettledRow write(String sql, @Nullable Object... parameters) {
		return new SettledRow(Reply.DONE, false, sql, Parameters.of(parameters));
	}

	private static SettledRow only(Reply reply) {
		return new SettledRow(reply, false, null, new Object[0]);
	}

}
