package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.util.Assert;

/**
 * The transitions of tasks with schedules: recur, repeat, and the end of a schedule.
 * Their other transitions are those of all tasks. The column {@code schedule_key} has the
 * key of a schedule, in all states of its task.
 */
final class ScheduleRows {

	private static final int MAX_ATTEMPTS = 100;

	private static final String HAS_SCHEDULE = "schedule is not null";

	private final Database database;

	private final Transitions transitions;

	private final LimitRows limits;

	private final Dialect dialect;

	private final TableName table;

	/**
	 * Creates an object for one database.
	 * @param transitions learns which tasks become claimable
	 * @param limits has the names whose declared schedules are cancelled
	 */
	ScheduleRows(Database database, Transitions transitions, LimitRows limits) {
		this.database = database;
		this.transitions = transitions;
		this.limits = limits;
		this.dialect = database.dialect();
		this.table = database.table();
	}

	/**
	 * Recur: stores a schedule, in the caller's transaction if there is one.
	 */
	Enqueued recur(NewSchedule schedule, @Nullable JdbcOperations joined) {
		TaskLimits.checkName(schedule.name());
		TaskLimits.checkKey(schedule.key());
		Assert.isTrue(schedule.schedule().length() <= DelayedTaskStore.MAX_SCHEDULE_LENGTH,
				"The text of the schedule is too long");
		return this.database.transaction(joined, (jdbc) -> store(schedule, jdbc));
	}

	private Enqueued store(NewSchedule schedule, JdbcOperations jdbc) {
		TaskId taskId = new TaskId(schedule.name(), schedule.key());
		for (int i = 0; i < MAX_ATTEMPTS; i++) {
			// A locking read returns the current row, even if the transaction does not
			// see it.
			String id = find(taskId, jdbc, (i > 0) ? " for update" : "");
			Current current = (id != null) ? lock(id, jdbc) : null;
			long now = this.database.now(jdbc);
			if (current != null) {
				return change(current, schedule, now, jdbc);
			}
			if (id == null && insert(schedule, now, jdbc)) {
				if (isDeclared(schedule.key())) {
					this.limits.setCancelled(schedule.name(), false, jdbc);
				}
				return new Enqueued(Outcome.INSERTED, schedule.id(), NewRow.FIRST_FENCE, schedule.first().resolve(now),
						now, false);
			}
		}
		throw new CannotAcquireLockException("The schedule " + taskId + " changed too often to be stored");
	}

	/**
	 * Restore: stores a declared schedule, unless a task has the schedule, or it was
	 * cancelled. A cancel deletes the task and sets the mark at once, so the mark is
	 * there if this transaction no longer sees the task.
	 * @return whether the schedule was stored
	 */
	boolean restore(NewSchedule schedule) {
		TaskLimits.checkName(schedule.name());
		return this.database.transaction(null,
				(jdbc) -> find(new TaskId(schedule.name(), schedule.key()), jdbc, "") == null
						&& !this.limits.isCancelled(schedule.name(), jdbc)
						&& insert(schedule, this.database.now(jdbc), jdbc));
	}

	private static boolean isDeclared(@Nullable String key) {
		return DelayedTaskStore.DECLARED_KEY.equals(key);
	}

	/**
	 * Looks up the task of a schedule, without a lock.
	 * @return its id, {@code null} if there is none
	 */
	@Nullable String find(TaskId taskId, @Nullable JdbcOperations joined) {
		return this.database.<@Nullable String>single(joined, (jdbc) -> find(taskId, jdbc, ""));
	}

	private @Nullable String find(TaskId taskId, JdbcOperations jdbc, String suffix) {
		return DataAccessUtils.singleResult(jdbc.query(
				"select id from " + this.table + " where name = ? and schedule_key = ?" + suffix,
				(rs, rowNum) -> rs.getString("id"), this.dialect.text(taskId.name()), this.dialect.text(taskId.key())));
	}

	private @Nullable Current lock(String id, JdbcOperations jdbc) {
		return DataAccessUtils.singleResult(jdbc.query(
				"select " + TaskRow.COLUMNS + ", payload from " + this.table + " where id = ? and " + HAS_SCHEDULE
						+ " for update",
				(rs, rowNum) -> new Current(TaskRow.read(rs, this.dialect), rs.getString("payload")), id));
	}

	/**
	 * Inserts the task of a schedule.
	 * @return {@code false} if another transaction was faster
	 */
	private boolean insert(NewSchedule schedule, long now, JdbcOperations jdbc) {
		Object key = this.dialect.text(schedule.key());
		long first = schedule.first().resolve(now);
		try {
			this.transitions.claimable(schedule.name(), first);
			jdbc.update(
					"insert into " + this.table
							+ " (id, name, task_key, schedule_key, payload, traceparent, due_at, next_at, scheduled_at,"
							+ " schedule, status, fence, attempt, deliveries, lost_deliveries, created_at)"
							+ " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " + TaskRow.PENDING + ", " + NewRow.FIRST_FENCE
							+ ", 1, 0, 0, ?)" + this.dialect.unlessTaken("fence"),
					Parameters.of(schedule.id(), this.dialect.text(schedule.name()), key, key,
							this.dialect.payload(schedule.payload()), schedule.traceparent(), first, first, first,
							schedule.schedule(), now));
			// The count of MySQL does not tell whether there was another row.
			return this.dialect.unlessTaken("fence").isEmpty()
					|| schedule.id().equals(find(new TaskId(schedule.name(), schedule.key()), jdbc, ""));
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

	private Enqueued change(Current current, NewSchedule schedule, long now, JdbcOperations jdbc) {
		TaskRow row = current.row();
		StoredSchedule stored = Objects.requireNonNull(row.schedule());
		boolean same = stored.text().equals(schedule.schedule());
		Outcome outcome = same ? Outcome.PENDING : Outcome.REPLACED;
		long scheduledAt = same ? stored.scheduledAt() : schedule.first().resolve(now);
		String payload = this.dialect.payload(schedule.payload());
		if (same && current.payload().equals(payload)) {
			return new Enqueued(outcome, row.id(), row.fence(), row.dueAt(), now, false);
		}
		if (row.isRunning()) {
			jdbc.update("update " + this.table + " set schedule = ?, scheduled_at = ?, payload = ? where id = ?",
					schedule.schedule(), scheduledAt, payload, row.id());
			return new Enqueued(outcome, row.id(), row.fence(), same ? row.dueAt() : scheduledAt, now, false);
		}
		// A node that has leased the task has the old payload, so its lease ends.
		long dueAt = same ? row.dueAt()
				: isOverdue(row, scheduledAt, now) ? Math.min(row.dueAt(), stored.scheduledAt()) : scheduledAt;
		this.transitions.claimable(row.name(), dueAt);
		jdbc.update(
				"update " + this.table + " set id = ?, schedule = ?, scheduled_at = ?, payload = ?, traceparent = ?,"
						+ " due_at = ?, next_at = ?, owner = null, " + TaskRow.RAISE_FENCE
						+ ", attempt = ?, deliveries = 0, lost_deliveries = 0, suspect = 0, alone = 0, error = null,"
						+ " created_at = ? where id = ?",
				Parameters.of(schedule.id(), schedule.schedule(), scheduledAt, payload, schedule.traceparent(), dueAt,
						dueAt, TaskRow.micros(now), same ? row.attempt() : 1, now, row.id()));
		return new Enqueued(outcome, schedule.id(), row.nextFence(now), dueAt, now, false);
	}

	/**
	 * Whether a run of the former schedule is overdue. It stays due, at its time by that
	 * schedule, unless the first run of the new schedule is due too and stands for it.
	 */
	private static boolean isOverdue(TaskRow row, long first, long now) {
		return row.dueAt() <= now && first > now;
	}

	/**
	 * Repeat: ends runs, and makes their tasks pending for the next runs.
	 */
	List<Reply> repeat(List<NextRun> runs) {
		return LockedTasks.change(this.database, runs, NextRun::task, Reply.DONE, (run, row, locked, now) -> {
			if (row.isHeldAs(run.task())) {
				Statement next = next(run, row, now);
				return locked.update(next.sql(), next.parameters());
			}
			return row.isGivenBackBy(run.task()) ? Reply.DONE : Reply.REFUSED;
		});
	}

	/**
	 * Repeat: ends a run, in the transaction of its body.
	 */
	boolean repeat(NextRun run, JdbcOperations joined) {
		TaskRow row = DataAccessUtils.singleResult(joined.query(
				"select " + TaskRow.COLUMNS + " from " + this.table + " where id = ? and fence = ? and status = "
						+ TaskRow.RUNNING + " for update",
				(rs, rowNum) -> TaskRow.read(rs, this.dialect), run.task().id(), run.task().fence()));
		if (row == null) {
			return false;
		}
		Statement next = next(run, row, this.database.now(joined));
		return joined.update(next.sql(), next.parameters().toArray()) > 0;
	}

	private Statement next(NextRun run, TaskRow row, long now) {
		StoredSchedule schedule = row.schedule();
		boolean same = schedule != null && schedule.text().equals(run.schedule());
		if (schedule == null || (same && run.due() == null)) {
			return new Statement("delete from " + this.table + " where id = ?", List.of(row.id()));
		}
		long due = same ? Objects.requireNonNull(run.due()).resolve(now) : schedule.scheduledAt();
		this.transitions.claimable(row.name(), due);
		List<@Nullable Object> parameters = new ArrayList<>(List.of(due, due, due));
		parameters.add((run.error() != null) ? this.dialect.error(run.error()) : null);
		parameters.add(row.id());
		return new Statement("update " + this.table + " set status = " + TaskRow.PENDING
				+ ", owner = null, suspect = 0, alone = 0, due_at = ?, next_at = ?, scheduled_at = ?, attempt = 1,"
				+ " deliveries = 0, lost_deliveries = 0, error = ? where id = ?", parameters);
	}

	/**
	 * Ends the schedule with a key.
	 * @return whether there was one
	 */
	boolean end(TaskId taskId, @Nullable JdbcOperations joined) {
		String id = find(taskId, joined);
		while (id != null) {
			if (end(id, joined)) {
				return true;
			}
			String again = find(taskId, joined);
			id = id.equals(again) ? null : again;
		}
		return false;
	}

	/**
	 * Ends the schedule of a task. If the task is running, the end of the run deletes the
	 * task. The state of the task counts once the task is locked, since its run may end
	 * at the same time.
	 * @return whether the task had a schedule
	 */
	boolean end(String id, @Nullable JdbcOperations joined) {
		return this.transitions.mayFind(id, HAS_SCHEDULE, joined)
				&& this.database.transaction(joined, (jdbc) -> lockAndEnd(id, jdbc));
	}

	private boolean lockAndEnd(String id, JdbcOperations jdbc) {
		Current current = lock(id, jdbc);
		if (current == null) {
			return false;
		}
		jdbc.update((current.row().isRunning() ? "update " + this.table + " set " + TaskRow.END_SCHEDULE
				: "delete from " + this.table) + " where id = ?", id);
		if (isDeclared(current.row().key())) {
			this.limits.setCancelled(current.row().name(), true, jdbc);
		}
		return true;
	}

	private record Current(TaskRow row, String payload) {

	}

	private record Statement(String sql, List<? extends @Nullable Object> parameters) {

	}

}
