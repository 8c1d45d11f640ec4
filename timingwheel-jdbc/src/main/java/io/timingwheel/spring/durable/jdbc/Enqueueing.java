package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskLimits;
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

	private static final int MAX_ATTEMPTS = 100;

	private final Database database;

	private final NewRows rows;

	private final String idByKey;

	private final String lockById;

	private final String lockByKey;

	Enqueueing(Database database) {
		this.database = database;
		this.rows = new NewRows(database);
		TableName table = database.table();
		this.idByKey = "select id from %s where name = ? and pending_key = ?".formatted(table);
		this.lockById = "select %s from %s where id = ? and status = %d for update".formatted(TaskRow.COLUMNS, table,
				Status.PENDING);
		this.lockByKey = "select %s from %s where name = ? and pending_key = ? for update".formatted(TaskRow.COLUMNS,
				table);
	}

	final Enqueued enqueue(NewTask task, @Nullable JdbcOperations joined) {
		TaskLimits.checkName(task.name());
		TaskLimits.checkKey(task.key());
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
		Enqueued inserted = NewRows.inserted(task, now);
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
			return NewRows.kept(pending, now);
		}
		jdbc.update(this.rows.replace(), NewRows.replacement(task, inserted, pending));
		return NewRows.replaced(inserted, pending);
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
		jdbc.update(this.rows.insert() + unlessPending, this.rows.insertion(task, inserted));
	}

}
