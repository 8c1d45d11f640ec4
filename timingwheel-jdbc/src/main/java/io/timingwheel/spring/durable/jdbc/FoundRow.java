package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeasedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * A row that a transaction has locked, with the columns that may be large.
 *
 * @param foundAt the {@code next_at} of the row
 * @param payload the payload, {@code null} if it is larger than a claim takes
 */
record FoundRow(TaskRow row, long foundAt, @Nullable String payload, @Nullable String traceparent) {

	/**
	 * The columns for {@link #read}.
	 */
	static final String COLUMNS = TaskRow.COLUMNS + ", next_at, payload, traceparent";

	/**
	 * The columns for {@link #read}, with the size of the largest payload in bytes as
	 * their parameter.
	 */
	static final String COLUMNS_UP_TO_SIZE = TaskRow.COLUMNS
			+ ", next_at, case when octet_length(payload) <= ? then payload end as payload, traceparent";

	static FoundRow read(ResultSet rs, Dialect dialect) throws SQLException {
		return new FoundRow(TaskRow.read(rs, dialect), rs.getLong("next_at"), rs.getString("payload"),
				rs.getString("traceparent"));
	}

	/**
	 * Takes running tasks and suspects whose leases have ended away from their nodes. All
	 * of them are then suspects.
	 * @param ids the tasks, which the transaction has locked
	 * @param now the time by the database's clock
	 */
	static void takeAway(Database database, JdbcOperations jdbc, List<String> ids, long now) {
		if (!ids.isEmpty()) {
			List<@Nullable Object> values = new ArrayList<>(List.of(TaskRow.micros(now)));
			Parameters.addList(values, ids);
			jdbc.update("update " + database.table() + " set owner = null, " + TaskRow.RAISE_FENCE
					+ ", lost_deliveries = lost_deliveries + alone, suspect = 1, alone = 0 where id"
					+ Parameters.isOneOf(ids.size()), values.toArray());
		}
	}

	/**
	 * Leases tasks. Those that are due begin. In MySQL an assignment sees the new values
	 * of the columns to its left. The assignment of the status is therefore the last one.
	 * @param now the time that decides whether a task begins
	 * @param leasedAt the time of the lease
	 */
	static List<ClaimedRow> lease(Database database, JdbcOperations jdbc, ClaimRequest request, List<FoundRow> found,
			long now, long leasedAt) {
		if (!found.isEmpty()) {
			List<@Nullable Object> values = new ArrayList<>(List.of(request.owner(), TaskRow.micros(leasedAt), now,
					LeaseTimes.millis(request.lease()), now, now, now));
			Parameters.addList(values, found.stream().map(FoundRow::id).toList());
			jdbc.update(("update %1$s set owner = ?, " + TaskRow.RAISE_FENCE
					+ ", next_at = least(greatest(due_at, ?) + ?, %2$d),"
					+ " deliveries = deliveries + case when %4$s then 1 else 0 end,"
					+ " pending_key = case when %4$s then null else pending_key end,"
					+ " status = case when %4$s then %3$d else status end where id%5$s")
				.formatted(database.table(), DelayedTaskStore.MAX_TIME, TaskRow.RUNNING,
						"status = " + TaskRow.PENDING + " and suspect = 0 and due_at <= ?",
						Parameters.isOneOf(found.size())),
					values.toArray());
		}
		return found.stream().map((row) -> row.leased(now, leasedAt, request.lease())).toList();
	}

	/**
	 * Leases tasks that do not begin, although they are due.
	 * @param now the time by the database's clock
	 */
	static List<LeasedTask> leaseUnbegun(Database database, JdbcOperations jdbc, ClaimRequest request,
			List<FoundRow> found, long now) {
		if (!found.isEmpty()) {
			List<@Nullable Object> values = new ArrayList<>(
					List.of(request.owner(), TaskRow.micros(now), LeaseTimes.plus(now, request.lease())));
			Parameters.addList(values, found.stream().map(FoundRow::id).toList());
			jdbc.update("update " + database.table() + " set owner = ?, " + TaskRow.RAISE_FENCE
					+ ", next_at = ? where id" + Parameters.isOneOf(found.size()), values.toArray());
		}
		return found.stream().map((row) -> row.task(now, row.row().dueAt(), false)).toList();
	}

	String id() {
		return this.row.id();
	}

	/**
	 * Whether the task has begun and its lease has ended.
	 */
	boolean isLost() {
		return this.row.isRunning() && !this.row.suspect();
	}

	/**
	 * The task as it is after the lease.
	 * @param now the time that decides whether the task begins
	 * @param leasedAt the time of the lease
	 */
	private ClaimedRow leased(long now, long leasedAt, Duration lease) {
		boolean begins = !this.row.suspect() && this.row.dueAt() <= now;
		return new ClaimedRow(task(leasedAt, this.row.dueAt(), begins), this.foundAt,
				LeaseTimes.leaseEnd(this.row.dueAt(), now, lease));
	}

	/**
	 * The task with its next fence.
	 * @param now the time by the database's clock
	 * @param dueAt when the task is due from now on
	 * @param begins whether the task begins
	 */
	LeasedTask task(long now, long dueAt, boolean begins) {
		return new LeasedTask(id(), this.row.nextFence(now), this.row.name(), this.row.key(), this.payload,
				this.traceparent, dueAt, begins, this.row.attempt(), this.row.deliveries() + (begins ? 1 : 0),
				this.row.lostDeliveries(), this.row.suspect(), this.row.schedule());
	}

}
