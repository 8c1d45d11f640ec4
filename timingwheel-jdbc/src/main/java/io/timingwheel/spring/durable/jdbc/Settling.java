package io.timingwheel.spring.durable.jdbc;

import java.util.Objects;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.jspecify.annotations.Nullable;

/**
 * How a settlement changes the row of its task.
 */
final class Settling {

	private Settling() {
	}

	/**
	 * Changes a row that the transaction has locked, and that the caller has.
	 * @return the reply; {@link Reply#REFUSED} if the row stays as it is
	 */
	static Reply settle(Settlement settlement, TaskRow row, long now, Dialect dialect) {
		if (settlement instanceof Settlement.Repeat repeat) {
			return repeat(repeat, row, now, dialect);
		}
		if (settlement instanceof Settlement.Bury bury) {
			row.status = row.isLast() ? TaskRow.GONE : TaskRow.DEAD;
			row.owner = null;
			row.held = false;
			row.nextAt = null;
			row.error = dialect.error(bury.reason());
			row.diedAt = now;
			return Reply.DONE;
		}
		boolean running = row.status == TaskRow.RUNNING;
		if (!running && !(settlement instanceof Settlement.Release)) {
			return Reply.REFUSED;
		}
		if (row.isLast() || settlement instanceof Settlement.Acknowledge) {
			row.status = TaskRow.GONE;
			return row.isLast() ? Reply.SUPERSEDED : Reply.DONE;
		}
		if (settlement instanceof Settlement.Retry retry) {
			row.schedule(DueTime.after(retry.delay()).resolve(now));
			row.attempt = retry.attempt();
			row.lost = 0;
			row.error = dialect.error(retry.error());
		}
		else {
			boolean started = ((Settlement.Release) settlement).started();
			row.schedule(row.dueAt);
			row.deliveries -= (running && !started) ? 1 : 0;
		}
		return Reply.DONE;
	}

	/**
	 * Repeat: scheduled for the next run, or gone if the schedule has ended. A schedule
	 * that was changed during the run goes on with its own first time.
	 */
	private static Reply repeat(Settlement.Repeat repeat, TaskRow row, long now, Dialect dialect) {
		boolean same = repeat.schedule().equals(row.schedule);
		if (row.schedule == null || (same && repeat.next() == null)) {
			row.status = TaskRow.GONE;
			return Reply.DONE;
		}
		row.schedule(same ? Objects.requireNonNull(repeat.next()).resolve(now) : Objects.requireNonNull(row.scheduledAt));
		row.reset();
		row.scheduledAt = row.dueAt;
		row.firstAt = null;
		row.error = (repeat.error() != null) ? dialect.error(repeat.error()) : null;
		return Reply.DONE;
	}

	/**
	 * The reply about a task that the caller does not have, or that another transaction
	 * has locked. The fence stays when a node gives a task back, so that a repeated call
	 * is known by it.
	 */
	static Reply notHeld(Settlement settlement, @Nullable TaskRow row) {
		if (row == null) {
			return (settlement instanceof Settlement.Repeat) ? Reply.DONE : Reply.REFUSED;
		}
		if (row.isHeldAs(settlement.task())) {
			return Reply.BUSY;
		}
		State settled = (settlement instanceof Settlement.Bury) ? State.DEAD : State.SCHEDULED;
		return (row.fence == settlement.task().fence() && row.state() == settled) ? Reply.DONE : Reply.REFUSED;
	}

}
