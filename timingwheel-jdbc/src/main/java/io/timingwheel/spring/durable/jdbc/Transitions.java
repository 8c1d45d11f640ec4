package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.TaskLimits;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The transitions of tasks that are not dead, in the order of the protocol, with their
 * statements. {@link ScheduleRows} has recur and repeat, and {@link DeadRows} has requeue
 * and discard. The statements of the most frequent transitions (enqueue, claim, begin,
 * renew, acknowledge) depend on the database: {@link PortableTransitions},
 * {@link PostgresTransitions}.
 */
abstract class Transitions {

	private static final int MAX_ATTEMPTS = 100;

	/** A schedule ends in another way ({@link ScheduleRows#end}). */
	private static final String RUNS_ONCE = "schedule is null";

	private static final String IS_PENDING = "status = " + TaskRow.PENDING;

	private final Database database;

	private final Dialect dialect;

	private final TableName table;

	Transitions(Database database) {
		this.database = database;
		this.dialect = database.dialect();
		this.table = database.table();
	}

	/**
	 * Enqueue: stores tasks, in the caller's transaction if there is one.
	 * @return the result for each task, in this order
	 */
	final List<Enqueued> enqueue(List<NewTask> tasks, @Nullable JdbcOperations joined) {
		for (NewTask task : tasks) {
			TaskLimits.checkName(task.name());
			TaskLimits.checkKey(task.key());
		}
		List<List<NewTask>> batches = EnqueueBatches.of(tasks);
		Map<String, Enqueued> enqueued;
		if (joined == null) {
			enqueued = enqueueAlone(batches);
		}
		else if (tasks.size() == 1) {
			enqueued = enqueue(joined, batches);
		}
		else {
			enqueued = ApplicationTransaction.allOrNone(joined, () -> enqueue(joined, batches));
		}
		return tasks.stream().map((task) -> Objects.requireNonNull(enqueued.get(task.id()))).toList();
	}

	/**
	 * Whether a task may be stored together with the tasks of other callers. It may if no
	 * lock of another transaction can hold up the task for long. In MariaDB and MySQL a
	 * lock of a neighbouring key can.
	 */
	boolean canShare(NewTask task) {
		return task.key() == null && !this.dialect.locksAbsentRows();
	}

	/**
	 * Enqueue: stores tasks of several callers, outside of their transactions.
	 * @return the result for each task, in this order; {@code null} if no task was
	 * stored, since one of the tasks cannot be stored, or waits for a lock
	 */
	final @Nullable List<Enqueued> enqueueShared(List<NewTask> tasks) {
		List<List<NewTask>> batches = EnqueueBatches.of(tasks);
		if (batches.size() > 1) {
			// Two tasks have the same key.
			return null;
		}
		try {
			for (NewTask task : tasks) {
				TaskLimits.checkName(task.name());
				TaskLimits.checkKey(task.key());
			}
			Map<String, Enqueued> stored = this.database.application()
				.once(isOneStatement(tasks), (jdbc) -> storeShared(jdbc, batches.get(0)));
			return tasks.stream().map((task) -> Objects.requireNonNull(stored.get(task.id()))).toList();
		}
		catch (IllegalArgumentException | DataIntegrityViolationException | ConcurrencyFailureException ex) {
			// The database has undone the statement.
			return null;
		}
		catch (CannotGetJdbcConnectionException ex) {
			if (Thread.currentThread().isInterrupted()) {
				// The interrupt of one caller ended the wait for a connection.
				return null;
			}
			throw ex;
		}
	}

	/**
	 * Stores tasks that can be shared, in one transaction.
	 * @return the results by the tasks' ids
	 */
	Map<String, Enqueued> storeShared(JdbcOperations jdbc, List<NewTask> batch) {
		return storeBatch(jdbc, batch);
	}

	private Map<String, Enqueued> enqueueAlone(List<List<NewTask>> batches) {
		ShortTransactions application = this.database.application();
		if (batches.size() != 1 || !isOneStatement(batches.get(0))) {
			return application.transaction((jdbc, status) -> enqueue(jdbc, batches));
		}
		List<NewTask> batch = batches.get(0);
		Map<String, Enqueued> stored = application.single((jdbc) -> storeBatch(jdbc, batch));
		return (stored.size() == batch.size()) ? stored
				: application.transaction((jdbc, status) -> withPending(jdbc, batch, stored));
	}

	private Map<String, Enqueued> enqueue(JdbcOperations jdbc, List<List<NewTask>> batches) {
		Map<String, Enqueued> enqueued = new HashMap<>();
		for (List<NewTask> batch : batches) {
			enqueued.putAll(withPending(jdbc, batch, storeBatch(jdbc, batch)));
		}
		return enqueued;
	}

	/**
	 * Adds the results of the tasks that were not stored because their keys were pending.
	 */
	private Map<String, Enqueued> withPending(JdbcOperations jdbc, List<NewTask> batch, Map<String, Enqueued> stored) {
		if (stored.size() == batch.size()) {
			return stored;
		}
		Map<String, Enqueued> enqueued = new HashMap<>(stored);
		Map<String, Long> earliest = new HashMap<>();
		for (NewTask task : batch) {
			if (!enqueued.containsKey(task.id())) {
				Enqueued result = replaceOrKeep(jdbc, task);
				enqueued.put(task.id(), result);
				if (result.outcome() == Outcome.REPLACED) {
					earliest.merge(task.name(), result.dueAt(), Math::min);
				}
			}
		}
		earliest.forEach(this::claimable);
		return enqueued;
	}

	/**
	 * Whether {@link #storeBatch} needs no transaction: it is one statement, and stores
	 * all tasks of the batch or none.
	 */
	boolean isOneStatement(List<NewTask> batch) {
		return false;
	}

	/**
	 * Stores tasks whose keys differ.
	 * @return the results by the tasks' ids; a task is absent if its key was pending and
	 * the task was not stored for that reason
	 */
	abstract Map<String, Enqueued> storeBatch(JdbcOperations jdbc, List<NewTask> batch);

	/**
	 * Stores a task whose key is pending, or was pending a moment ago. A locking read
	 * returns the current row, even in a transaction with the isolation "repeatable
	 * read".
	 */
	private Enqueued replaceOrKeep(JdbcOperations jdbc, NewTask task) {
		long now = this.database.now(jdbc);
		for (int i = 0; i < MAX_ATTEMPTS; i++) {
			TaskRow pending = DataAccessUtils.singleResult(jdbc.query(
					"select " + TaskRow.COLUMNS + " from " + this.table
							+ " where name = ? and pending_key = ? for update",
					(rs, rowNum) -> TaskRow.read(rs, this.dialect), this.dialect.text(task.name()),
					this.dialect.nullableText(task.key())));
			if (pending != null) {
				NewRow row = NewRow.of(task, now, pending);
				if (!task.replaces()) {
					return row.kept(pending);
				}
				jdbc.update(NewRow.replace(this.table), row.replaceValues(pending, this.dialect));
				return row.replaced(pending);
			}
			Enqueued stored = storeBatch(jdbc, List.of(task)).get(task.id());
			if (stored != null) {
				return stored;
			}
		}
		throw new CannotAcquireLockException(
				"The task " + task.name() + "/" + task.key() + " changed too often to be stored");
	}

	/**
	 * Claim: leases tasks that are due soon, and tasks whose lease has ended. A task that
	 * is due now begins with the claim.
	 */
	abstract Claimed claim(ClaimRequest request);

	/**
	 * Claims tasks of a name whose only limit is the number of running tasks, in one
	 * request.
	 * @param room how many tasks the caller wants
	 * @param concurrent the limit of the name
	 * @return {@code null} if the database has no such request
	 */
	@Nullable CountedClaim claimLimited(ClaimRequest request, String name, int room, int concurrent) {
		return null;
	}

	/**
	 * Begins a search for the first tasks of some names, if the database has to know
	 * where.
	 */
	Search look(List<String> names) {
		return Search.ofAll(names);
	}

	/**
	 * The text of a statement that searches for the first tasks of some names. If the
	 * database keeps plans, a row also has the size of the table.
	 */
	String lookText(String sql) {
		return sql;
	}

	/**
	 * Reads what {@link #lookText} has added to a row.
	 */
	void readLook(ResultSet rs) throws SQLException {
	}

	/**
	 * Ends a search for the first tasks of some names.
	 */
	void looked(Search search, Map<String, FirstTimes> looks) {
	}

	/**
	 * Learns that this node has made a task claimable. The due time may be long past.
	 * Another node may find such a task only with its next sweep ({@link ClaimFloors}).
	 */
	void claimable(String name, long dueAt) {
	}

	/**
	 * Begin: makes leased tasks running, which gives up their keys.
	 */
	abstract List<Reply> begin(List<TaskRef> tasks, Duration lease);

	/**
	 * Renew: makes the leases of running tasks last from now.
	 */
	abstract List<Reply> renew(List<TaskRef> tasks, Duration lease);

	/**
	 * Acknowledge: deletes running tasks.
	 */
	abstract List<Reply> acknowledge(List<TaskRef> tasks);

	/**
	 * Acknowledge: deletes a running task, in the transaction of its body.
	 */
	final boolean acknowledge(TaskRef task, JdbcOperations joined) {
		return joined.update(
				"delete from " + this.table + " where id = ? and fence = ? and status = " + TaskRow.RUNNING, task.id(),
				task.fence()) > 0;
	}

	/**
	 * Retry: makes running tasks pending again for another attempt.
	 */
	final List<Reply> retry(List<Retry> retries) {
		return LockedTasks.change(this.database, retries, Retry::task, Reply.REFUSED, (retry, row, locked, now) -> {
			if (row.isHeldAs(retry.task()) && row.last()) {
				return locked.delete(row);
			}
			if (row.isHeldAs(retry.task()) && row.isRunning()) {
				long dueAt = LeaseTimes.plus(now, retry.delay());
				return locked.makePending(row, "suspect = 0, due_at = ?, next_at = ?, attempt = ?, error = ?", dueAt,
						dueAt, retry.attempt(), this.dialect.error(retry.error()));
			}
			return doneIf(row.isGivenBackBy(retry.task()) && row.attempt() == retry.attempt());
		});
	}

	/**
	 * Release: makes leased or running tasks pending again, as they were.
	 * @param started whether the bodies of the running tasks have started, so that their
	 * deliveries count
	 */
	final List<Reply> release(List<TaskRef> tasks, boolean started) {
		return LockedTasks.change(this.database, tasks, Function.identity(), Reply.REFUSED,
				(task, row, locked, now) -> {
					if (row.isHeldAs(task) && row.last()) {
						return locked.delete(row);
					}
					claimable(row.name(), row.dueAt());
					if (!row.isHeldAs(task)) {
						return doneIf(row.isGivenBackBy(task));
					}
					// A suspect has not begun under this lease.
					boolean uncounted = !started && row.isRunning() && !row.suspect();
					return locked.makePending(row,
							"next_at = due_at, suspect = ?" + (uncounted ? ", deliveries = deliveries - 1" : ""),
							(row.suspect() || row.alone()) ? 1 : 0);
				});
	}

	/**
	 * Bury: makes leased or running tasks dead.
	 */
	final List<Reply> bury(List<Burial> burials) {
		return LockedTasks.change(this.database, burials, Burial::task, Reply.REFUSED, (burial, row, locked, now) -> {
			if (row.isHeldAs(burial.task()) && row.last()) {
				return locked.delete(row);
			}
			if (row.isHeldAs(burial.task())) {
				return locked.update(
						"update " + this.table + " set status = " + TaskRow.DEAD + ", owner = null, pending_key = null,"
								+ " next_at = null, error = ?, died_at = ? where id = ?",
						List.of(this.dialect.error(burial.reason()), now, row.id()));
			}
			return doneIf(row.isDead() && row.fence() == burial.task().fence());
		});
	}

	/**
	 * The reply for a task that this call did not change.
	 */
	private static Reply doneIf(boolean doneBefore) {
		return doneBefore ? Reply.DONE : Reply.REFUSED;
	}

	/**
	 * Cancel: deletes a pending task. Looks up the key without a lock, and then locks the
	 * row by its id. In MySQL with the isolation "repeatable read", a lock by the key
	 * would also lock the neighbouring keys.
	 */
	final boolean cancel(TaskId taskId, @Nullable JdbcOperations joined) {
		String id = pendingId(taskId, null, joined);
		while (id != null) {
			if (delete(id, joined)) {
				return true;
			}
			id = pendingId(taskId, id, joined);
		}
		return false;
	}

	/**
	 * Cancel: deletes a pending task by its id, without a lock if there is no such task
	 * ({@link #mayFind}).
	 */
	final boolean cancel(String id, @Nullable JdbcOperations joined) {
		return mayFind(id, IS_PENDING + " and " + RUNS_ONCE, joined) && delete(id, joined);
	}

	/**
	 * Whether a statement that locks a task by its id may find one. In MySQL with the
	 * isolation "repeatable read", a lock by an absent id would also lock the ids of new
	 * tasks.
	 */
	final boolean mayFind(String id, String condition, @Nullable JdbcOperations joined) {
		return joined == null || !this.dialect.locksAbsentRows()
				|| !joined
					.queryForList("select id from " + this.table + " where id = ? and " + condition, String.class, id)
					.isEmpty();
	}

	private boolean delete(String id, @Nullable JdbcOperations joined) {
		return this.database.single(joined, (jdbc) -> jdbc
			.update("delete from " + this.table + " where id = ? and " + IS_PENDING + " and " + RUNS_ONCE, id)) > 0;
	}

	/**
	 * Reschedule: moves a pending task, and raises its fence so that an earlier lease
	 * ends. The key is looked up as for a cancel.
	 */
	final @Nullable Rescheduled reschedule(TaskId taskId, DueTime due, @Nullable LeaseOffer lease,
			@Nullable JdbcOperations joined) {
		String id = pendingId(taskId, null, joined);
		while (id != null) {
			Rescheduled moved = move(id, due, lease, joined);
			if (moved != null) {
				return moved;
			}
			id = pendingId(taskId, id, joined);
		}
		return null;
	}

	final @Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease,
			@Nullable JdbcOperations joined) {
		return mayFind(id, IS_PENDING, joined) ? move(id, due, lease, joined) : null;
	}

	private @Nullable Rescheduled move(String id, DueTime due, @Nullable LeaseOffer lease,
			@Nullable JdbcOperations joined) {
		return this.database.<@Nullable Rescheduled>transaction(joined, (jdbc) -> move(jdbc, id, due, lease));
	}

	private @Nullable Rescheduled move(JdbcOperations jdbc, String id, DueTime due, @Nullable LeaseOffer lease) {
		FoundRow pending = DataAccessUtils
			.singleResult(jdbc.query("select " + FoundRow.COLUMNS + " from " + this.table + " where id = ? and "
					+ IS_PENDING + " for update", (rs, rowNum) -> FoundRow.read(rs, this.dialect), id));
		if (pending == null) {
			return null;
		}
		long now = this.database.now(jdbc);
		long dueAt = due.resolve(pending.row().dueAt(), now);
		LeaseOffer accepted = pending.row().suspect() ? null : LeaseTimes.accepted(lease, dueAt, now);
		jdbc.update(
				"update " + this.table + " set due_at = ?, next_at = ?, owner = ?, " + TaskRow.RAISE_FENCE
						+ " where id = ?",
				dueAt, LeaseTimes.nextAt(dueAt, now, accepted), LeaseTimes.owner(accepted), TaskRow.micros(now), id);
		claimable(pending.row().name(), dueAt);
		return new Rescheduled(pending.task(now, dueAt, false), now, accepted != null);
	}

	/**
	 * Looks up the pending task with a key, without a lock.
	 * @param earlier the task that was found before and is no longer pending
	 * @return {@code null} if there is no task, or if this transaction sees only the
	 * earlier task
	 */
	private @Nullable String pendingId(TaskId taskId, @Nullable String earlier, @Nullable JdbcOperations joined) {
		List<String> ids = this.database.single(joined,
				(jdbc) -> jdbc.queryForList("select id from " + this.table + " where name = ? and pending_key = ?",
						String.class, this.dialect.text(taskId.name()), this.dialect.text(taskId.key())));
		String id = DataAccessUtils.singleResult(ids);
		return Objects.equals(id, earlier) ? null : id;
	}

	/**
	 * Deletes all tasks in one statement. Only tests do this.
	 */
	final void deleteAll() {
		this.database.store().single((jdbc) -> jdbc.update("delete from " + this.table));
	}

}
