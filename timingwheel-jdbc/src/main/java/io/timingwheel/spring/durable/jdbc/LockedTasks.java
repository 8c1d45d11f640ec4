package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.TransactionStatus;

/**
 * Tasks that a transaction has locked in order to change them. A task that another
 * transaction has locked is skipped, and the reply for this task is {@link Reply#BUSY}.
 */
final class LockedTasks {

	/** A transaction waits for keys for at most a tenth of what is left of a lease. */
	private static final int PARTS_PER_LEASE = 10;

	private final Database database;

	private final JdbcOperations jdbc;

	private final TransactionStatus transaction;

	private final Map<String, TaskRow> locked;

	private final Map<String, TaskRow> notLocked;

	private boolean lockWaitLimited;

	/** When the first of the leases ends, by the database's clock. */
	private long leaseEnd = Long.MAX_VALUE;

	/** How long all waits for keys together may still take, in nanoseconds. */
	private long waitNanos;

	private LockedTasks(Database database, JdbcOperations jdbc, TransactionStatus transaction, List<TaskRef> tasks) {
		this.database = database;
		this.jdbc = jdbc;
		this.transaction = transaction;
		TreeSet<String> ids = new TreeSet<>();
		tasks.forEach((task) -> ids.add(task.id()));
		this.locked = read(ids, " order by id for update skip locked");
		ids.removeAll(this.locked.keySet());
		this.notLocked = ids.isEmpty() ? Map.of() : read(ids, "");
	}

	/**
	 * Locks tasks, in the order of their ids so that two calls do not wait for each
	 * other.
	 */
	static LockedTasks lock(Database database, JdbcOperations jdbc, TransactionStatus transaction,
			List<TaskRef> tasks) {
		return new LockedTasks(database, jdbc, transaction, tasks);
	}

	/**
	 * Locks tasks and changes each, in a short transaction. If the waits for keys take
	 * too long, the reply for the tasks that are left with such keys is
	 * {@link Reply#BUSY}.
	 * @param task gives the task of a request
	 * @param gone the reply if there is no such task
	 * @param change changes the task of a request
	 * @return the reply to each request, in this order
	 */
	static <Q> List<Reply> change(Database database, List<Q> requests, Function<Q, TaskRef> task, Reply gone,
			Change<Q> change) {
		return database.store().transaction((jdbc, status) -> {
			LockedTasks locked = lock(database, jdbc, status, requests.stream().map(task).toList());
			long now = database.now(jdbc);
			locked.waitNanos = Math.max(1, TimeUnit.MILLISECONDS.toNanos(locked.leaseEnd - now) / PARTS_PER_LEASE);
			try {
				return locked.replies(requests, task, gone, (request, row) -> change.apply(request, row, locked, now));
			}
			finally {
				locked.resetLockWait();
			}
		});
	}

	private Map<String, TaskRow> read(Collection<String> ids, String suffix) {
		Map<String, TaskRow> rows = new HashMap<>();
		this.jdbc.query("select " + TaskRow.COLUMNS + ", next_at from " + this.database.table() + " where id"
				+ Parameters.isOneOf(ids.size()) + suffix, (rs) -> {
					TaskRow row = TaskRow.read(rs, this.database.dialect());
					rows.put(row.id(), row);
					this.leaseEnd = Math.min(this.leaseEnd, row.leased() ? rs.getLong("next_at") : Long.MAX_VALUE);
				}, Parameters.list(ids));
		return rows;
	}

	/**
	 * The replies to requests. Begins with a random request. So even if a few requests
	 * use up the time for waiting, each other request comes before them in some calls.
	 * @param task gives the task of a request
	 * @param gone the reply if there is no such task
	 * @param change changes a task that is locked, if the task is as the request expects
	 */
	<Q> List<Reply> replies(List<Q> requests, Function<Q, TaskRef> task, Reply gone,
			BiFunction<Q, TaskRow, Reply> change) {
		Reply[] replies = new Reply[requests.size()];
		int first = ThreadLocalRandom.current().nextInt(replies.length);
		for (int i = 0; i < replies.length; i++) {
			int index = (first + i) % replies.length;
			Q request = requests.get(index);
			TaskRef ref = task.apply(request);
			TaskRow row = this.locked.get(ref.id());
			if (row != null) {
				replies[index] = change.apply(request, row);
			}
			else {
				TaskRow other = this.notLocked.get(ref.id());
				replies[index] = replyForNotLocked(ref, (other != null) ? other.fence() : null, gone);
			}
		}
		return List.of(replies);
	}

	/**
	 * The reply for a task that was not locked.
	 * @param fence the fence of the task, {@code null} if there is no such task
	 * @param gone the reply if there is no such task
	 */
	static Reply replyForNotLocked(TaskRef task, @Nullable Long fence, Reply gone) {
		if (fence == null) {
			return gone;
		}
		return (fence == task.fence()) ? Reply.BUSY : Reply.REFUSED;
	}

	/**
	 * Makes a leased or running task pending, and ends its lease. A running task takes
	 * its key again. If a newer task has the key, the older task is deleted instead. The
	 * task is no longer alone.
	 * @param assignments the other assignments of the statement
	 * @param values the parameters of the assignments
	 */
	Reply makePending(TaskRow row, String assignments, Object... values) {
		String sql = "update " + this.database.table() + " set status = " + TaskRow.PENDING
				+ ", owner = null, alone = 0, pending_key = case when schedule is null then task_key end, "
				+ assignments + " where id = ?";
		List<Object> parameters = new ArrayList<>(List.of(values));
		parameters.add(row.id());
		return (row.isRunning() && row.key() != null && row.schedule() == null) ? takeKey(row, sql, parameters)
				: update(sql, parameters);
	}

	/**
	 * Makes a running task pending with its key. If another transaction is storing a new
	 * task with the key, waits for a short time only. The reply is then
	 * {@link Reply#BUSY}.
	 */
	private Reply takeKey(TaskRow row, String sql, List<Object> parameters) {
		if (this.waitNanos <= 0) {
			return Reply.BUSY;
		}
		if (!this.lockWaitLimited) {
			this.lockWaitLimited = true;
			this.database.dialect().limitLockWait(this.jdbc);
		}
		Object savepoint = this.transaction.createSavepoint();
		long start = System.nanoTime();
		try {
			if (isKeyPending(row)) {
				return giveWay(row);
			}
			Reply reply = update(sql, parameters);
			this.transaction.releaseSavepoint(savepoint);
			return reply;
		}
		catch (DuplicateKeyException ex) {
			this.transaction.rollbackToSavepoint(savepoint);
			return giveWay(row);
		}
		catch (CannotAcquireLockException ex) {
			this.waitNanos -= System.nanoTime() - start;
			this.transaction.rollbackToSavepoint(savepoint);
			return Reply.BUSY;
		}
	}

	private boolean isKeyPending(TaskRow row) {
		Dialect dialect = this.database.dialect();
		return !this.jdbc
			.queryForList(
					"select id from " + this.database.table() + " where name = ? and pending_key = ?"
							+ dialect.lockNoWait(),
					String.class, dialect.text(row.name()), dialect.nullableText(row.key()))
			.isEmpty();
	}

	private Reply giveWay(TaskRow row) {
		delete(row);
		return Reply.SUPERSEDED;
	}

	Reply delete(TaskRow row) {
		return update("delete from " + this.database.table() + " where id = ?", List.of(row.id()));
	}

	Reply update(String sql, List<? extends @Nullable Object> parameters) {
		this.jdbc.update(sql, parameters.toArray());
		return Reply.DONE;
	}

	private void resetLockWait() {
		if (this.lockWaitLimited) {
			this.database.dialect().resetLockWait(this.jdbc);
		}
	}

	/**
	 * Changes a task that is locked, if the task is as the request expects.
	 */
	interface Change<Q> {

		Reply apply(Q request, TaskRow row, LockedTasks locked, long now);

	}

}
