package io.timingwheel.spring.durable.jdbc;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.Moved;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.StoredSchedule;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.util.Assert;

/**
 * What applications do with tasks that are stored: cancel, move, find, and recur. These
 * calls look up a task without a lock, and then lock the row by its id. In MySQL with the
 * isolation "repeatable read", a lock by a key would also lock the neighbouring keys, and
 * a lock by an absent id would also lock the ids of new tasks.
 */
final class PendingTasks {

	private static final int MAX_ATTEMPTS = 100;

	private static final String FIND = "select " + TaskRow.COLUMNS + " from {task} where ";

	private static final String DELETE = """
			delete from {task} where id = ? and status = {pending} and schedule is null""";

	private static final String LOCK_PENDING = "select " + TaskRow.COLUMNS
			+ " from {task} where id = ? and status = {pending} for update";

	private static final String LOCK_SCHEDULE = "select " + TaskRow.COLUMNS
			+ ", payload from {task} where id = ? and schedule is not null for update";

	private static final String MOVE = """
			update {task} set due_at = ?, next_at = ?, owner = null, fence = ? where id = ?""";

	private static final String END_RUNNING = """
			update {task} set schedule = null, held_key = null where id = ?""";

	private static final String INSERT_SCHEDULE = """
			insert into {task} (id, name, task_key, held_key, payload, traceparent, schedule, due_at, next_at,
				scheduled_at, status, fence, attempt, deliveries, lost, created_at)
			values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {pending}, 1, 1, 0, 0, ?)""";

	private static final String CHANGE_RUNNING = """
			update {task} set schedule = ?, scheduled_at = ?, payload = ? where id = ?""";

	private static final String CHANGE_PENDING = """
			update {task} set id = ?, schedule = ?, scheduled_at = ?, payload = ?, traceparent = ?, due_at = ?,
				next_at = ?, owner = null, fence = ?, attempt = ?, deliveries = 0, lost = 0, error = null, created_at = ?
			where id = ?""";

	private final Database database;

	private final Dialect dialect;

	PendingTasks(Database database) {
		this.database = database;
		this.dialect = database.dialect();
	}

	/**
	 * Cancel: deletes a pending task, or ends a schedule.
	 */
	boolean cancel(Target target) {
		return change(target, (caller, id) -> {
			boolean deleted = caller.single((jdbc) -> jdbc.update(this.database.sql(DELETE), id)) > 0;
			return (deleted || caller.transaction((jdbc) -> endSchedule(jdbc, id))) ? Boolean.TRUE : null;
		}) != null;
	}

	/**
	 * Ends the schedule of a task. If the task is running, the end of the run deletes the
	 * task. The state of the task counts once the task is locked, since its run may end
	 * at the same time.
	 */
	private boolean endSchedule(JdbcOperations jdbc, String id) {
		Recurring recurring = lockSchedule(jdbc, id);
		if (recurring == null) {
			return false;
		}
		jdbc.update(this.database.sql(recurring.row().isRunning() ? END_RUNNING : "delete from {task} where id = ?"),
				id);
		if (isDeclared(recurring.row().key())) {
			setCancelled(jdbc, recurring.row().name(), true);
		}
		return true;
	}

	/**
	 * Move: gives a pending task another due time, and raises its fence so that an
	 * earlier lease ends.
	 */
	@Nullable Moved move(Target target, DueTime due) {
		return change(target, (caller, id) -> caller.<@Nullable Moved>transaction((jdbc) -> {
			TaskRow row = DataAccessUtils.singleResult(
					jdbc.query(this.database.sql(LOCK_PENDING), (rs, rowNum) -> TaskRow.read(rs, this.dialect), id));
			if (row == null) {
				return null;
			}
			long now = this.database.now(jdbc);
			long dueAt = due.resolve(row.dueAt(), now);
			jdbc.update(this.database.sql(MOVE), dueAt, dueAt, row.nextFence(now), id);
			return new Moved(id, row.name(), dueAt, now);
		}));
	}

	/**
	 * Finds a task. Sees what the caller's transaction has stored.
	 */
	Optional<StoredTask> find(Target target) {
		return rows(this.database.caller(), target).stream().findFirst().map(TaskRow::stored);
	}

	/**
	 * Changes the first of the tasks of a target that can be changed. If a task was
	 * replaced meanwhile, tries the new one.
	 * @param change changes the task with an id; gives {@code null} if the task is not
	 * (any more) as it has to be
	 */
	private <T> @Nullable T change(Target target, BiFunction<Access, String, @Nullable T> change) {
		Access caller = this.database.caller();
		Set<String> tried = new HashSet<>();
		List<String> ids = changeable(caller, target);
		while (tried.addAll(ids)) {
			for (String id : ids) {
				T result = change.apply(caller, id);
				if (result != null) {
					return result;
				}
			}
			ids = changeable(caller, target);
		}
		return null;
	}

	private List<String> changeable(Access caller, Target target) {
		return rows(caller, target).stream()
			.filter((row) -> row.isPending() || row.schedule() != null)
			.map(TaskRow::id)
			.toList();
	}

	/**
	 * Reads the tasks of a target without a lock, a task that runs once before a
	 * schedule.
	 */
	private List<TaskRow> rows(Access caller, Target target) {
		if (target instanceof Target.ByKey byKey) {
			String name = byKey.taskId().name();
			String key = byKey.taskId().key();
			if (!this.dialect.canStore(name) || !this.dialect.canStore(key)) {
				return List.of();
			}
			List<Object> held = switch (byKey.kind()) {
				case ONCE -> List.of(this.dialect.text(TaskRow.heldKey(key, false)));
				case SCHEDULE -> List.of(this.dialect.text(TaskRow.heldKey(key, true)));
				case EITHER -> List.of(this.dialect.text(TaskRow.heldKey(key, false)),
						this.dialect.text(TaskRow.heldKey(key, true)));
			};
			return rows(caller, "name = ? and held_key" + Parameters.isOneOf(held.size()) + " order by held_key",
					Parameters.and(held, this.dialect.text(name)));
		}
		return rows(caller, "id = ?", ((Target.ById) target).id());
	}

	private List<TaskRow> rows(Access caller, String condition, Object... parameters) {
		String sql = this.database.sql(FIND + condition);
		return caller.single((jdbc) -> jdbc.query(sql, (rs, rowNum) -> TaskRow.read(rs, this.dialect), parameters));
	}

	/**
	 * Recur: stores a schedule, or changes the stored one.
	 */
	Enqueued recur(NewSchedule schedule) {
		Assert.isTrue(schedule.schedule().length() <= DelayedTaskStore.MAX_SCHEDULE_LENGTH,
				"The text of the schedule is too long");
		Access caller = this.database.caller();
		if (schedule.onlyIfLost()) {
			// Usually it is there, and needs no lock.
			List<TaskRow> stored = rows(caller,
					Target.of(new TaskId(schedule.name(), schedule.key()), Target.Kind.SCHEDULE));
			if (!stored.isEmpty()) {
				return new Enqueued(Outcome.PENDING, stored.get(0).id(), stored.get(0).dueAt(),
						caller.single(this.database::now));
			}
		}
		return caller.transaction((jdbc) -> {
			for (int i = 0; i < MAX_ATTEMPTS; i++) {
				// A locking read returns the current row, even if the transaction does
				// not see it.
				Enqueued result = recur(jdbc, schedule, (i > 0) ? " for update" : "");
				if (result != null) {
					return result;
				}
			}
			throw new CannotAcquireLockException(
					"The schedule %s/%s changed too often to be stored".formatted(schedule.name(), schedule.key()));
		});
	}

	/**
	 * Tries to store a schedule. A cancel deletes the task and sets the mark at once, so
	 * the mark is there if this transaction no longer sees the task.
	 * @return {@code null} if another transaction was faster
	 */
	private @Nullable Enqueued recur(JdbcOperations jdbc, NewSchedule schedule, String suffix) {
		String id = scheduleId(jdbc, schedule, suffix);
		long now = this.database.now(jdbc);
		if (id == null) {
			if (schedule.onlyIfLost() && isCancelled(jdbc, schedule.name())) {
				return new Enqueued(Outcome.PENDING, "", now, now);
			}
			return insert(jdbc, schedule, now);
		}
		Recurring stored = lockSchedule(jdbc, id);
		if (stored == null) {
			return null;
		}
		return schedule.onlyIfLost() ? new Enqueued(Outcome.PENDING, id, stored.row().dueAt(), now)
				: change(jdbc, stored, schedule, now);
	}

	private @Nullable String scheduleId(JdbcOperations jdbc, NewSchedule schedule, String suffix) {
		return DataAccessUtils.singleResult(jdbc.queryForList(
				this.database.sql("select id from {task} where name = ? and held_key = ?" + suffix), String.class,
				this.dialect.text(schedule.name()), this.dialect.text(TaskRow.heldKey(schedule.key(), true))));
	}

	private @Nullable Enqueued insert(JdbcOperations jdbc, NewSchedule schedule, long now) {
		long first = schedule.first().resolve(now);
		try {
			jdbc.update(this.database.sql(INSERT_SCHEDULE) + this.dialect.unlessTaken(),
					Parameters.of(schedule.id(), this.dialect.text(schedule.name()), this.dialect.text(schedule.key()),
							this.dialect.text(TaskRow.heldKey(schedule.key(), true)),
							this.dialect.payload(schedule.payload()), schedule.traceparent(), schedule.schedule(),
							first, first, first, now));
		}
		catch (DuplicateKeyException ex) {
			return null;
		}
		// The count of MySQL does not tell whether there was another row.
		if (!this.dialect.unlessTaken().isEmpty() && !schedule.id().equals(scheduleId(jdbc, schedule, ""))) {
			return null;
		}
		if (isDeclared(schedule.key()) && isCancelled(jdbc, schedule.name())) {
			setCancelled(jdbc, schedule.name(), false);
		}
		return new Enqueued(Outcome.INSERTED, schedule.id(), first, now);
	}

	private Enqueued change(JdbcOperations jdbc, Recurring stored, NewSchedule schedule, long now) {
		TaskRow row = stored.row();
		StoredSchedule earlier = Objects.requireNonNull(row.schedule());
		boolean same = earlier.text().equals(schedule.schedule());
		Outcome outcome = same ? Outcome.PENDING : Outcome.REPLACED;
		long scheduledAt = same ? earlier.scheduledAt() : schedule.first().resolve(now);
		String payload = this.dialect.payload(schedule.payload());
		if (same && stored.payload().equals(payload)) {
			return new Enqueued(outcome, row.id(), row.dueAt(), now);
		}
		if (row.isRunning()) {
			jdbc.update(this.database.sql(CHANGE_RUNNING), schedule.schedule(), scheduledAt, payload, row.id());
			return new Enqueued(outcome, row.id(), same ? row.dueAt() : scheduledAt, now);
		}
		// A run of the former schedule that is overdue stays due, at its time by that
		// schedule, unless the first run of the new schedule is due too and stands for
		// it.
		boolean overdue = row.dueAt() <= now && scheduledAt > now;
		long dueAt = same ? row.dueAt() : overdue ? Math.min(row.dueAt(), earlier.scheduledAt()) : scheduledAt;
		// A node that has leased the task has the old payload, so its lease ends.
		jdbc.update(this.database.sql(CHANGE_PENDING),
				Parameters.of(schedule.id(), schedule.schedule(), scheduledAt, payload, schedule.traceparent(), dueAt,
						dueAt, row.nextFence(now), same ? row.attempt() : 1, now, row.id()));
		return new Enqueued(outcome, schedule.id(), dueAt, now);
	}

	private @Nullable Recurring lockSchedule(JdbcOperations jdbc, String id) {
		return DataAccessUtils.singleResult(jdbc.query(this.database.sql(LOCK_SCHEDULE),
				(rs, rowNum) -> new Recurring(TaskRow.read(rs, this.dialect), rs.getString("payload")), id));
	}

	private static boolean isDeclared(@Nullable String key) {
		return DelayedTaskStore.DECLARED_KEY.equals(key);
	}

	private boolean isCancelled(JdbcOperations jdbc, String name) {
		return !jdbc
			.queryForList(this.database.sql("select cancelled from {name} where name = ? and cancelled = 1"),
					this.dialect.text(name))
			.isEmpty();
	}

	/**
	 * Sets or deletes the mark of a declared schedule that was cancelled, in the
	 * transaction of the change of the schedule.
	 */
	private void setCancelled(JdbcOperations jdbc, String name, boolean cancelled) {
		Object text = this.dialect.text(name);
		boolean exists = !jdbc.queryForList(this.database.sql("select name from {name} where name = ?"), text)
			.isEmpty();
		if (!exists) {
			try {
				jdbc.update(this.database.sql("insert into {name} (name) values (?)") + this.dialect.unlessTaken(),
						text);
			}
			catch (DuplicateKeyException ex) {
				// Another transaction was faster.
			}
		}
		jdbc.update(this.database.sql("update {name} set cancelled = ? where name = ?"), cancelled ? 1 : 0, text);
	}

	/**
	 * A task with a schedule that the transaction has locked.
	 */
	private record Recurring(TaskRow row, String payload) {

	}

}
