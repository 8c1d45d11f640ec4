package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * Begins, renews and acknowledges what a node has leased.
 */
class Leases {

	private final Database database;

	private final String begin;

	private final String renew;

	private final String delete;

	Leases(Database database) {
		this.database = database;
		String lease = " next_at = least(%s + ?, %d)".formatted(database.dialect().nowExpression(),
				DelayedTaskStore.MAX_TIME);
		// MySQL sees the new values of columns that stand further left.
		this.begin = "update %s set deliveries = deliveries + case when status = %d then 1 else 0 end, pending_key = null, status = %d,%s where id in "
			.formatted(database.table(), Status.PENDING, Status.RUNNING, lease);
		this.renew = "update %s set%s where id in ".formatted(database.table(), lease);
		this.delete = "delete from %s where id in ".formatted(database.table());
	}

	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(tasks, this.begin, lease(lease), Set.of(Status.PENDING, Status.RUNNING), Reply.REFUSED);
	}

	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(tasks, this.renew, lease(lease), Set.of(Status.RUNNING), Reply.REFUSED);
	}

	List<Reply> acknowledge(List<TaskRef> tasks) {
		return change(tasks, this.delete, List.of(), Set.of(Status.RUNNING), Reply.DONE);
	}

	private List<Object> lease(Duration lease) {
		return List.of(this.database.dialect().nowParameter(this.database.offset().getAsLong()), Times.millis(lease));
	}

	/**
	 * Changes those tasks that the caller has leased.
	 * @param sql up to the list of ids
	 * @param gone the reply if there is no such task
	 */
	private List<Reply> change(List<TaskRef> tasks, String sql, List<Object> parameters, Set<Integer> statuses,
			Reply gone) {
		return this.database.engine().transaction((jdbc, status) -> {
			LockedTasks locked = LockedTasks.lock(jdbc, this.database, tasks);
			Set<String> ids = new HashSet<>();
			List<Reply> replies = new ArrayList<>(tasks.size());
			for (TaskRef task : tasks) {
				TaskRow row = locked.row(task);
				if (row == null) {
					replies.add(locked.replyWithout(task, gone));
				}
				else if (row.isHeldAs(task) && statuses.contains(row.status())) {
					ids.add(row.id());
					replies.add(Reply.DONE);
				}
				else {
					replies.add(Reply.REFUSED);
				}
			}
			if (!ids.isEmpty()) {
				List<@Nullable Object> all = new ArrayList<>(parameters);
				Dialect.padded(all, ids);
				jdbc.update(sql + Dialect.placeholders(ids.size()), all.toArray());
			}
			return replies;
		});
	}

}
