package io.timingwheel.spring.durable.jdbc;

import java.util.List;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Locks the first rows of a queue of a name, and leases them, in SQL that all databases
 * understand.
 */
final class ClaimedRows {

	/** How many leases that have ended one claim deals with. */
	private static final int MAX_ENDED = 128;

	/**
	 * Due and not lost: begins. In MySQL an assignment sees the new values of the columns
	 * to its left, so the status comes last.
	 */
	private static final String LEASE = """
			update {task} set owner = ?, fence = greatest(fence + 1, ?),
				next_at = least(greatest(due_at, ?) + ?, {max}),
				deliveries = deliveries + case when lost = 0 and due_at <= ? then 1 else 0 end,
				held_key = case when lost = 0 and due_at <= ? and schedule is null then null else held_key end,
				first_at = case when lost = 0 and due_at <= ? then null else first_at end,
				status = case when lost = 0 and due_at <= ? then {running} else status end
			where id""";

	private static final String LOSE = """
			update {task} set owner = null, fence = greatest(fence + 1, ?), next_at = due_at, lost = lost + 1,
				status = {pending}
			where id""";

	private final Database database;

	private final Dialect dialect;

	ClaimedRows(Database database) {
		this.database = database;
		this.dialect = database.dialect();
	}

	/**
	 * Locks the first tasks of a queue that no node has, or whose leases have ended. The
	 * order has all columns of the index, since H2 would otherwise sort all rows.
	 * @param queue the queue, as the statements name it
	 * @param now the time by which leases have ended
	 * @param until the last time by which claims find the tasks
	 */
	List<Found> lockFirst(JdbcOperations jdbc, ClaimRequest request, String name, String queue, long now, long until,
			int limit) {
		String rows = this.database.sql("{task} where name = ? and queue = " + queue
				+ " and next_at <= ? and (owner is null or next_at <= ?) order by name, queue, next_at");
		List<Found> found = jdbc.query(
				this.dialect.lockFirst(
						TaskRow.COLUMNS
								+ ", case when octet_length(payload) <= ? then payload end as payload, traceparent",
						rows, Parameters.paddedSize(limit)),
				(rs, rowNum) -> new Found(TaskRow.read(rs, this.dialect), rs.getString("payload"),
						rs.getString("traceparent")),
				this.dialect.storedBytes(request.maxPayloadBytes()), this.dialect.text(name), until, now);
		return found.subList(0, Math.min(limit, found.size()));
	}

	/**
	 * Running, lease over: scheduled without its key, lost + 1.
	 * @return whether there were any
	 */
	boolean lose(JdbcOperations jdbc, String name, long now) {
		String rows = this.database
			.sql("{task} where name = ? and queue = {running} and next_at <= ? order by name, queue, next_at");
		List<String> ids = jdbc.query(this.dialect.lockFirst("id", rows, MAX_ENDED), (rs, rowNum) -> rs.getString(1),
				this.dialect.text(name), now);
		if (!ids.isEmpty()) {
			jdbc.update(this.database.sql(LOSE + Parameters.isOneOf(ids.size())),
					Parameters.and(ids, TaskRow.micros(now)));
		}
		return !ids.isEmpty();
	}

	/**
	 * Scheduled: running if the task is due, and leased if it is due soon or is a
	 * suspect.
	 * @param begins {@code false} if none of the tasks begins
	 */
	List<LeasedTask> lease(JdbcOperations jdbc, ClaimRequest request, List<Found> found, long now, boolean begins) {
		if (!found.isEmpty()) {
			long beginsAt = begins ? now : Long.MIN_VALUE;
			jdbc.update(this.database.sql(LEASE + Parameters.isOneOf(found.size())),
					Parameters.and(found.stream().map((task) -> task.row().id()).toList(), request.owner(),
							TaskRow.micros(now), now, DueTime.after(request.lease()).resolve(0), beginsAt, beginsAt,
							beginsAt, beginsAt));
		}
		return found.stream()
			.map((task) -> task.row()
				.leased(now, begins && task.row().lost() == 0 && task.row().dueAt() <= now, task.payload(),
						task.traceparent()))
			.toList();
	}

	/**
	 * A row that a claim has locked.
	 *
	 * @param payload the arguments, {@code null} if they are too large
	 */
	record Found(TaskRow row, @Nullable String payload, @Nullable String traceparent) {

		/**
		 * The time by which the claim has found the task.
		 */
		long foundAt() {
			return (this.row.nextAt() != null) ? this.row.nextAt() : this.row.dueAt();
		}

	}

}
