package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.TransactionStatus;

/**
 * Takes back what a node has leased and did not finish. A task that has begun takes its
 * key again, for which another transaction may be storing a new task just now.
 */
final class Returns {

	private final Database database;

	private final String retry;

	private final String release;

	private final String bury;

	private final String delete;

	private final String pending;

	Returns(Database database) {
		this.database = database;
		TableName table = database.table();
		String scheduled = "update %s set status = %d, owner = null, pending_key = task_key,".formatted(table,
				Status.PENDING);
		this.retry = scheduled + " due_at = ?, next_at = ?, attempt = ?, error = ? where id = ?";
		this.release = scheduled + " next_at = due_at where id = ?";
		this.bury = ("update %s set status = %d, owner = null, pending_key = null, next_at = null, error = ?,"
				+ " died_at = ? where id = ?")
			.formatted(table, Status.DEAD);
		this.delete = "delete from %s where id = ?".formatted(table);
		this.pending = "select id from %s where name = ? and pending_key = ?".formatted(table)
				+ database.dialect().orLocked();
	}

	List<Reply> retry(List<Retry> retries) {
		return change(retries, Retry::task, (retry, row) -> {
			if (row.isHeldAs(retry.task()) && row.isRunning()) {
				return this.retry;
			}
			return isGivenBack(row, retry.task()) && row.attempt() == retry.attempt() ? "" : null;
		}, (retry, now) -> {
			long dueAt = Times.plus(now, Times.millis(retry.delay()));
			return List.of(dueAt, dueAt, retry.attempt(), this.database.dialect().error(retry.error()));
		});
	}

	List<Reply> release(List<TaskRef> tasks) {
		return change(tasks, Function.identity(), (task, row) -> {
			if (row.isHeldAs(task)) {
				return this.release;
			}
			return isGivenBack(row, task) ? "" : null;
		}, (task, now) -> List.of());
	}

	List<Reply> bury(List<Burial> burials) {
		return change(burials, Burial::task, (burial, row) -> {
			if (row.isHeldAs(burial.task())) {
				return this.bury;
			}
			return (row.status() == Status.DEAD && row.fence() == burial.task().fence()) ? "" : null;
		}, (burial, now) -> List.of(this.database.dialect().error(burial.reason()), now));
	}

	private static boolean isGivenBack(TaskRow row, TaskRef task) {
		return row.isPending() && !row.leased() && row.fence() == task.fence();
	}

	/**
	 * Changes tasks.
	 * @param change tells the statement that changes a task, empty if that was done
	 * before, {@code null} to refuse
	 * @param parameters the parameters of the statement, up to the id
	 */
	private <Q> List<Reply> change(List<Q> questions, Function<Q, TaskRef> task,
			BiFunction<Q, TaskRow, @Nullable String> change, BiFunction<Q, Long, List<Object>> parameters) {
		if (questions.isEmpty()) {
			return List.of();
		}
		return this.database.engine().transaction((jdbc, status) -> {
			LockedTasks locked = LockedTasks.lock(jdbc, this.database, questions.stream().map(task).toList());
			long now = this.database.now(jdbc);
			Keys keys = new Keys(jdbc, status);
			try {
				List<Reply> replies = new ArrayList<>(questions.size());
				for (Q question : questions) {
					TaskRow row = locked.row(task.apply(question));
					if (row == null) {
						replies.add(locked.replyWithout(task.apply(question), Reply.REFUSED));
						continue;
					}
					String sql = change.apply(question, row);
					if (sql == null || sql.isEmpty()) {
						replies.add((sql != null) ? Reply.DONE : Reply.REFUSED);
						continue;
					}
					List<Object> all = new ArrayList<>(parameters.apply(question, now));
					all.add(row.id());
					boolean takesKey = row.isRunning() && row.key() != null && !sql.equals(this.bury);
					replies.add(takesKey ? keys.take(row, sql, all) : update(jdbc, sql, all));
				}
				return replies;
			}
			finally {
				keys.endLimitOfWaiting();
			}
		});
	}

	private static Reply update(JdbcOperations jdbc, String sql, List<Object> parameters) {
		jdbc.update(sql, parameters.toArray());
		return Reply.DONE;
	}

	/**
	 * Takes keys again, within a transaction.
	 */
	private final class Keys {

		private final JdbcOperations jdbc;

		private final TransactionStatus transaction;

		private boolean limited;

		Keys(JdbcOperations jdbc, TransactionStatus transaction) {
			this.jdbc = jdbc;
			this.transaction = transaction;
		}

		Reply take(TaskRow row, String sql, List<Object> parameters) {
			if (!this.limited) {
				Returns.this.database.dialect().limitWaiting(this.jdbc);
				this.limited = true;
			}
			Object savepoint = this.transaction.createSavepoint();
			try {
				if (isPending(row)) {
					return giveWay(row);
				}
				Reply reply = update(this.jdbc, sql, parameters);
				this.transaction.releaseSavepoint(savepoint);
				return reply;
			}
			catch (DuplicateKeyException ex) {
				this.transaction.rollbackToSavepoint(savepoint);
				return giveWay(row);
			}
			catch (CannotAcquireLockException ex) {
				this.transaction.rollbackToSavepoint(savepoint);
				return Reply.BUSY;
			}
		}

		void endLimitOfWaiting() {
			if (this.limited) {
				Returns.this.database.dialect().endLimitOfWaiting(this.jdbc);
			}
		}

		private boolean isPending(TaskRow row) {
			Dialect dialect = Returns.this.database.dialect();
			return Rows.first(this.jdbc, Returns.this.pending, (rs, rowNum) -> rs.getString("id"),
					dialect.text(row.name()), dialect.nullableText(row.key())) != null;
		}

		private Reply giveWay(TaskRow row) {
			this.jdbc.update(Returns.this.delete, row.id());
			return Reply.SUPERSEDED;
		}

	}

}
