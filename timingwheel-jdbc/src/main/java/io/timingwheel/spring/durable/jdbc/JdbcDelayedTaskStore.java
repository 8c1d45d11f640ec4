package io.timingwheel.spring.durable.jdbc;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.task.TaskId;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.support.DataAccessUtils;

/**
 * The store of durable tasks in a relational database, through Spring JDBC.
 *
 * <p>
 * Applications store, cancel, move and find tasks through the application's data source,
 * in the transaction of the calling thread if there is one. Nodes and operators use the
 * store's data source, in short transactions of their own.
 *
 * <p>
 * The store connects to the database when it is first used, or checked. Thread-safe.
 *
 * @since 0.1
 */
public final class JdbcDelayedTaskStore extends OperatorCalls {

	private static final String LOCK = "select " + TaskRow.STATE_COLUMNS
			+ ", payload, traceparent from {task} where id = ? for update";

	private final NewTasks newTasks;

	/**
	 * @param applicationDataSource in whose transactions tasks are stored and cancelled
	 * @param storeDataSource leads to the same database; may be the same object
	 * @param tableName such as {@code timingwheel_task} or {@code schema.table}
	 * @param dialect the dialect of a database that this library does not know,
	 * {@code null} for the others
	 * @throws IllegalArgumentException if the name is too long, or has other characters
	 * than letters, digits and underscores
	 */
	public JdbcDelayedTaskStore(DataSource applicationDataSource, DataSource storeDataSource, String tableName,
			@Nullable Dialect dialect) {
		super(new Database(applicationDataSource, storeDataSource, tableName, dialect));
		this.newTasks = new NewTasks(this.database);
	}

	@Override
	public List<Enqueued> enqueue(List<NewTask> tasks) {
		return this.newTasks.enqueue(tasks);
	}

	@Override
	public boolean cancel(Target target) {
		return change(target, (session, row) -> {
			if (row.schedule != null && DECLARED_KEY.equals(row.key)) {
				TaskNames.set(session, row.name, "cancelled", true);
			}
			row.schedule = null;
			row.held = false;
			row.status = row.isRunning() ? TaskRow.RUNNING : TaskRow.GONE;
			return Boolean.TRUE;
		}) != null;
	}

	@Override
	public @Nullable Moved move(Target target, DueTime due) {
		return change(target, (session, row) -> {
			if (!row.isPending()) {
				return null;
			}
			long now = session.now();
			row.dueAt = due.resolve(row.dueAt, now);
			row.nextAt = row.dueAt;
			row.owner = null;
			row.fence = row.nextFence(now);
			return new Moved(row.id, row.name, row.dueAt, now);
		});
	}

	@Override
	public Optional<StoredTask> find(Target target) {
		return found(target).stream().findFirst().map(TaskRow::stored);
	}

	/**
	 * Changes the first of the tasks of a target that can be changed. If a task was
	 * replaced meanwhile, tries the new one. Looks the tasks up without a lock, and then
	 * locks one by its id: with "repeatable read" MySQL would lock the place of an absent
	 * task, and its neighbours.
	 * @param change gives {@code null} if it has not changed the task
	 */
	private <T> @Nullable T change(Target target, BiFunction<Session, TaskRow, @Nullable T> change) {
		Session caller = this.database.caller();
		Set<String> tried = new HashSet<>();
		List<TaskRow> rows = found(target);
		while (tried.addAll(rows.stream().map((row) -> row.id).toList())) {
			for (TaskRow found : rows) {
				T result = canChange(found)
						? caller.<@Nullable T>transaction((session) -> change(session, found.id, change)) : null;
				if (result != null) {
					return result;
				}
			}
			rows = found(target);
		}
		return null;
	}

	private static <T> @Nullable T change(Session session, String id,
			BiFunction<Session, TaskRow, @Nullable T> change) {
		TaskRow row = DataAccessUtils.singleResult(session.rows(LOCK, id));
		T result = (row != null && canChange(row)) ? change.apply(session, row) : null;
		if (row != null && result != null) {
			session.write(List.of(row));
		}
		return result;
	}

	private static boolean canChange(TaskRow row) {
		return row.isPending() || row.schedule != null;
	}

	private List<TaskRow> found(Target target) {
		return this.database.caller().single((session) -> found(session, target, ""));
	}

	/** Reads the tasks of a target, a task that runs once before a schedule. */
	private static List<TaskRow> found(Session session, Target target, String suffix) {
		if (target instanceof Target.ById byId) {
			return session.rows("select {columns} from {task} where id = ?" + suffix, byId.id());
		}
		Target.ByKey byKey = (Target.ByKey) target;
		Dialect dialect = session.dialect();
		List<Object> held = Stream.of(Target.Kind.ONCE, Target.Kind.SCHEDULE)
			.filter((kind) -> byKey.kind() == kind || byKey.kind() == Target.Kind.EITHER)
			.map((kind) -> dialect.text(TaskRow.heldKey(byKey.taskId().key(), kind == Target.Kind.SCHEDULE)))
			.toList();
		return session.rows("select {columns} from {task} where name = ? and held_key {in} order by held_key" + suffix,
				dialect.text(byKey.taskId().name()), held);
	}

	@Override
	public Enqueued recur(NewSchedule schedule) {
		return this.database.caller().transaction((session) -> {
			// A locking read returns the current row, even if the transaction does not
			// see it.
			for (String suffix : List.of("", " for update", " for update")) {
				Enqueued result = recur(session, schedule, suffix);
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
	private @Nullable Enqueued recur(Session session, NewSchedule schedule, String suffix) {
		Target target = Target.of(new TaskId(schedule.name(), schedule.key()), Target.Kind.SCHEDULE);
		TaskRow found = DataAccessUtils.singleResult(found(session, target, suffix));
		long now = session.now();
		if (schedule.onlyIfLost()) {
			if (found != null) {
				return new Enqueued(Outcome.PENDING, found.id, found.dueAt, now);
			}
			if (TaskNames.exists(session, schedule.name(), "cancelled = 1")) {
				return new Enqueued(Outcome.PENDING, "", now, now);
			}
		}
		if (found == null) {
			return insert(session, schedule, now);
		}
		TaskRow row = DataAccessUtils.singleResult(session.rows(LOCK, found.id));
		return (row != null && row.schedule != null) ? change(session, row, schedule, now) : null;
	}

	private @Nullable Enqueued insert(Session session, NewSchedule schedule, long now) {
		TaskRow row = new TaskRow(schedule.id(), schedule.name(), schedule.key());
		row.schedule(schedule.first().resolve(now));
		row.schedule = schedule.schedule();
		row.scheduledAt = row.dueAt;
		row.payload = schedule.payload();
		if (!session.insert(List.of(row), now).isEmpty()) {
			return null;
		}
		if (DECLARED_KEY.equals(schedule.key()) && TaskNames.exists(session, schedule.name(), "cancelled = 1")) {
			TaskNames.set(session, schedule.name(), "cancelled", false);
		}
		return new Enqueued(Outcome.INSERTED, row.id, row.dueAt, now);
	}

	private Enqueued change(Session session, TaskRow row, NewSchedule schedule, long now) {
		StoredSchedule earlier = Objects.requireNonNull(row.storedSchedule());
		boolean same = earlier.text().equals(schedule.schedule());
		Outcome outcome = same ? Outcome.PENDING : Outcome.REPLACED;
		if (same && schedule.payload().equals(row.payload)) {
			return new Enqueued(outcome, row.id, row.dueAt, now);
		}
		row.payload = schedule.payload();
		long scheduledAt = same ? earlier.scheduledAt() : schedule.first().resolve(now);
		row.schedule = schedule.schedule();
		row.scheduledAt = scheduledAt;
		boolean running = row.isRunning();
		if (!running) {
			// A run of the former schedule that is overdue stays due, at its time by that
			// schedule, unless the first run of the new schedule is due too and stands
			// for it.
			boolean overdue = row.dueAt <= now && scheduledAt > now;
			// A node that has leased the task has the old payload, so its lease ends.
			row.schedule(same ? row.dueAt : overdue ? Math.min(row.dueAt, earlier.scheduledAt()) : scheduledAt);
			row.fence = row.nextFence(now);
			int attempt = row.attempt;
			row.reset();
			row.attempt = same ? attempt : 1;
		}
		String id = running ? row.id : schedule.id();
		session.update(TaskRow.REPLACE, row.replacement(this.database.dialect(), id, now));
		return new Enqueued(outcome, id, (running && !same) ? scheduledAt : row.dueAt, now);
	}

	@Override
	public boolean joinsTransaction() {
		return ApplicationTransaction.current(this.database.applicationDataSource) != null;
	}

	@Override
	public boolean canJoinTransactions() {
		return true;
	}

	@Override
	public long now() {
		return this.database.caller().single(Session::now);
	}

	@Override
	public void check() {
		this.database.schema().check();
	}

	/** What Spring does not name may be an outage, in which no task may be given up. */
	@Override
	public boolean isRefusal(Throwable error) {
		return error instanceof DataIntegrityViolationException
				|| error instanceof InvalidDataAccessResourceUsageException
				|| error instanceof PermissionDeniedDataAccessException || error instanceof IllegalArgumentException;
	}

	@Override
	public Testing testing() {
		return new Testing() {

			@Override
			public void setClock(@Nullable LongSupplier millis) {
				JdbcDelayedTaskStore.this.database.setClock(millis);
			}

			@Override
			public void deleteAll() {
				JdbcDelayedTaskStore.this.database.node().transaction((session) -> {
					// The table of MySQL has a row that is no task.
					session.update("delete from {task} where status in ({pending}, {running}, {dead})");
					session.update("delete from {node}");
					return session.update("delete from {name}");
				});
			}

		};
	}

}
