package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Stores a task with one statement.
 */
final class PostgresEnqueueing extends Enqueueing {

	private final Database database;

	private final String insert;

	private final String insertOrReplace;

	PostgresEnqueueing(Database database) {
		super(database);
		this.database = database;
		TableName table = database.table();
		long end = DelayedTaskStore.MAX_TIME;
		String insert = """
				with clock as (select %s + ? as now),
				task as (select now, least(case when ? then 0 else now end + ?, %d) as due_at from clock)
				insert into %s as t (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,
					attempt, deliveries, lost_deliveries, created_at)
				select ?, ?, ?, ?, ?, due_at,
					case when due_at <= now + ? then least(greatest(due_at, now) + ?, %d) else due_at end, %d,
					case when due_at <= now + ? then ? end, %d, 1, 0, 0, now
				from task
				""".formatted(PostgresDialect.NOW, end, table, end, Status.PENDING, FIRST_FENCE);
		String returning = " returning fence, due_at, created_at, owner is not null as leased";
		this.insert = insert + database.dialect().unlessPending() + returning;
		this.insertOrReplace = insert + """
				on conflict (name, pending_key) where pending_key is not null do update set
					id = excluded.id, payload = excluded.payload, due_at = excluded.due_at, next_at = excluded.next_at,
					owner = excluded.owner, fence = t.fence + 1, attempt = 1, deliveries = 0, lost_deliveries = 0,
					error = null, created_at = excluded.created_at
				""" + returning;
	}

	@Override
	Enqueued alone(NewTask task) {
		Enqueued enqueued = this.database.application().single((jdbc) -> insert(jdbc, task));
		return (enqueued != null) ? enqueued : super.alone(task);
	}

	@Override
	Enqueued join(JdbcOperations jdbc, NewTask task) {
		Enqueued enqueued = insert(jdbc, task);
		return (enqueued != null) ? enqueued : super.join(jdbc, task);
	}

	/**
	 * Stores a task.
	 * @return {@code null} if another is pending
	 */
	private @Nullable Enqueued insert(JdbcOperations jdbc, NewTask task) {
		String sql = (task.key() == null || task.ifPending() != IfPending.REPLACE) ? this.insert : this.insertOrReplace;
		LeaseOffer lease = task.lease();
		long lookAhead = (lease != null) ? Times.millis(lease.lookAhead()) : -DelayedTaskStore.MAX_TIME * 2;
		return Rows.first(jdbc, sql, (rs, rowNum) -> read(rs, task.id()), this.database.offset().getAsLong(),
				task.due().absolute(), Math.min(task.due().millis(), DelayedTaskStore.MAX_TIME), task.id(),
				this.database.dialect().text(task.name()), this.database.dialect().nullableText(task.key()),
				this.database.dialect().nullableText(task.key()), task.payload(), lookAhead,
				(lease != null) ? Times.millis(lease.lease()) : 0, lookAhead, (lease != null) ? lease.owner() : null);
	}

	/**
	 * A task in place of another has its fence raised.
	 */
	private static Enqueued read(ResultSet rs, String id) throws SQLException {
		long fence = rs.getLong("fence");
		Outcome outcome = (fence == FIRST_FENCE) ? Outcome.INSERTED : Outcome.REPLACED;
		return new Enqueued(outcome, id, fence, rs.getLong("due_at"), rs.getLong("created_at"),
				rs.getBoolean("leased"));
	}

}
