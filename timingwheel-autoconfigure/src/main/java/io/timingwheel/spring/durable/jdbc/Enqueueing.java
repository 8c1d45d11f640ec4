package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Stores tasks. A pending task is looked up by a read that locks nothing and then locked
 * by its id: to look for an absent key with a lock would keep MySQL's other transactions
 * from storing the keys next to it.
 */
class Enqueueing {

	static final long FIRST_FENCE = 1;

	static final int MAX_ATTEMPTS = 100;

	private final Database database;

	private final String insert;

	private final String idByKey;

	private final String lockById;

	private final String lockByKey;

	private final String replace;

	Enqueueing(Database database) {
		this.database = database;
		TableName table = database.table();
		this.insert = ("insert into %s (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,"
				+ " attempt, deliveries, lost_deliveries, created_at) values (?, ?, ?, ?, ?, ?, ?, %d, ?, %d, 1, 0, 0, ?)")
			.formatted(table, Status.PENDING, FIRST_FENCE);
		this.idByKey = "select id from %s where name = ? and pending_key = ?".formatted(table);
		this.lockById = "select %s from %s where id = ? and status = %d for update".formatted(TaskRow.COLUMNS, table,
				Status.PENDING);
		this.lockByKey = "select %s from %s where name = ? and pending_key = ? for update".formatted(TaskRow.COLUMNS,
				table);
		this.replace = ("update %s set id = ?, payload = ?, due_at = ?, next_at = ?, owner = ?, fence = fence + 1,"
				+ " attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, created_at = ? where id = ?")
			.formatted(table);
	}

	final Enqueued enqueue(NewTask task, @Nullable JdbcOperations joined) {
		Texts.checkName(task.name());
		Texts.checkKey(task.key());
		return (joined != null) ? join(joined, task) : alone(task);
	}

	/**
	 * Outside of a transaction.
	 */
	Enqueued alone(NewTask task) {
		return this.database.application().transaction((jdbc, status) -> store(jdbc, task));
	}

	/**
	 * In the caller's transaction.
	 */
	Enqueued join(JdbcOperations jdbc, NewTask task) {
		return store(jdbc, task);
	}

	private Enqueued store(JdbcOperations jdbc, NewTask task) {
		long now = this.database.now(jdbc);
		long dueAt = task.due().resolve(now);
		boolean leased = Times.accepted(task.lease(), dueAt, now);
		Enqueued inserted = new Enqueued(Outcome.INSERTED, task.id(), FIRST_FENCE, dueAt, now, leased);
		if (task.key() == null) {
			insert(jdbc, task, inserted, "");
			return inserted;
		}
		TaskRow pending = pending(jdbc, task.name(), task.key());
		for (int i = 0; pending == null; i++) {
			if (i == MAX_ATTEMPTS) {
				throw new CannotAcquireLockException("Too many changes of the task " + task.name() + "/" + task.key());
			}
			if (insertUnlessPending(jdbc, task, inserted)) {
				return inserted;
			}
			pending = Rows.first(jdbc, this.lockByKey, (rs, rowNum) -> TaskRow.read(rs, this.database.dialect()),
					this.database.dialect().text(task.name()), this.database.dialect().text(task.key()));
			if (pending != null && pending.id().equals(task.id())) {
				return inserted;
			}
		}
		if (task.ifPending() != IfPending.REPLACE) {
			return new Enqueued(Outcome.PENDING, pending.id(), pending.fence(), pending.dueAt(), now, false);
		}
		LeaseOffer lease = leased ? task.lease() : null;
		jdbc.update(this.replace, task.id(), task.payload(), dueAt, nextAt(inserted, lease), owner(lease), now,
				pending.id());
		return new Enqueued(Outcome.REPLACED, task.id(), pending.fence() + 1, dueAt, now, leased);
	}

	private @Nullable TaskRow pending(JdbcOperations jdbc, String name, String key) {
		Dialect dialect = this.database.dialect();
		String id = Rows.first(jdbc, this.idByKey, (rs, rowNum) -> rs.getString("id"), dialect.text(name),
				dialect.text(key));
		return (id != null) ? Rows.first(jdbc, this.lockById, (rs, rowNum) -> TaskRow.read(rs, dialect), id) : null;
	}

	/**
	 * Stores a task unless its key is pending.
	 * @return whether it is certain that the task was stored: MySQL does not tell
	 */
	private boolean insertUnlessPending(JdbcOperations jdbc, NewTask task, Enqueued inserted) {
		String unlessPending = this.database.dialect().unlessPending();
		if (!unlessPending.isEmpty()) {
			insert(jdbc, task, inserted, unlessPending);
			return false;
		}
		try {
			insert(jdbc, task, inserted, "");
			return true;
		}
		catch (DuplicateKeyException ex) {
			return false;
		}
	}

	private void insert(JdbcOperations jdbc, NewTask task, Enqueued inserted, String unlessPending) {
		Dialect dialect = this.database.dialect();
		Object key = dialect.nullableText(task.key());
		LeaseOffer lease = inserted.leased() ? task.lease() : null;
		jdbc.update(this.insert + unlessPending, task.id(), dialect.text(task.name()), key, key, task.payload(),
				inserted.dueAt(), nextAt(inserted, lease), owner(lease), inserted.now());
	}

	private static long nextAt(Enqueued task, @Nullable LeaseOffer lease) {
		return (lease != null) ? Times.leaseEnd(task.dueAt(), task.now(), lease.lease()) : task.dueAt();
	}

	private static @Nullable String owner(@Nullable LeaseOffer lease) {
		return (lease != null) ? lease.owner() : null;
	}

}
