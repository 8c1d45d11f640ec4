package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

/**
 * A statement that stores whatever a source of tasks gives, in place of what is pending
 * or unless something is.
 */
final class PostgresInsert {

	private final String orReplace;

	private final String unlessPending;

	/**
	 * Creates a pair of statements, whose first parameter is the offset of the clock.
	 * @param source gives id, name, task_key, payload, absolute, millis, look_ahead,
	 * lease and owner of each task
	 */
	PostgresInsert(Database database, String source) {
		long end = DelayedTaskStore.MAX_TIME;
		String insert = """
				with clock as (select %1$s + ? as now),
				task as (select *, least(case when absolute then 0 else now end + millis, %2$d) as due_at from clock, %3$s)
				insert into %4$s as t (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,
					attempt, deliveries, lost_deliveries, created_at)
				select id, name, task_key, task_key, payload, due_at,
					case when due_at <= now + look_ahead then least(greatest(due_at, now) + lease, %2$d) else due_at end, %5$d,
					case when due_at <= now + look_ahead then owner end, %6$d, 1, 0, 0, now
				from task
				"""
			.formatted(PostgresDialect.NOW, end, source, database.table(), Status.PENDING, NewRows.FIRST_FENCE);
		String returning = " returning id, fence, due_at, created_at, owner is not null as leased";
		this.unlessPending = insert + database.dialect().unlessPending() + returning;
		this.orReplace = insert + """
				on conflict (name, pending_key) where pending_key is not null do update set
					id = excluded.id, payload = excluded.payload, due_at = excluded.due_at, next_at = excluded.next_at,
					owner = excluded.owner, fence = t.fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0,
					error = null, created_at = excluded.created_at
				""" + returning;
	}

	/**
	 * Returns each task that was stored.
	 */
	String unlessPending() {
		return this.unlessPending;
	}

	/**
	 * Returns each task.
	 */
	String orReplace() {
		return this.orReplace;
	}

	/**
	 * Whether a task is stored whatever is pending.
	 */
	static boolean replaces(NewTask task) {
		return task.key() == null || task.ifPending() == IfPending.REPLACE;
	}

	static long millis(NewTask task) {
		return Math.min(task.due().millis(), DelayedTaskStore.MAX_TIME);
	}

	static long lookAhead(NewTask task) {
		LeaseOffer lease = task.lease();
		return (lease != null) ? Times.millis(lease.lookAhead()) : -DelayedTaskStore.MAX_TIME * 2;
	}

	static long lease(NewTask task) {
		LeaseOffer lease = task.lease();
		return (lease != null) ? Times.millis(lease.lease()) : 0;
	}

	/**
	 * Reads a task that was stored. One in place of another has its fence raised.
	 */
	static Enqueued read(ResultSet rs) throws SQLException {
		long fence = rs.getLong("fence");
		Outcome outcome = (fence == NewRows.FIRST_FENCE) ? Outcome.INSERTED : Outcome.REPLACED;
		return new Enqueued(outcome, rs.getString("id"), fence, rs.getLong("due_at"), rs.getLong("created_at"),
				rs.getBoolean("leased"));
	}

	static @Nullable String owner(NewTask task) {
		LeaseOffer lease = task.lease();
		return (lease != null) ? lease.owner() : null;
	}

}
