package io.timingwheel.spring.durable.jdbc;

import java.util.List;

import io.timingwheel.spring.durable.store.LeasedTask;

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
			where id {in}""";

	private static final String LOSE = """
			update {task} set owner = null, fence = greatest(fence + 1, ?), next_at = due_at, lost = lost + 1,
				status = {pending}
			where id {in}""";

	private ClaimedRows() {
	}

	/**
	 * Locks the first tasks of a queue that no node has, or whose leases have ended. The
	 * order has all columns of the index, since H2 would otherwise sort all rows.
	 * @param queue the queue, as the statements name it
	 * @param now the time by which leases have ended
	 * @param until the last time by which claims find the tasks
	 */
	static List<TaskRow> lockFirst(Session session, Claim claim, String name, String queue, long now,
			long until, int limit) {
		Dialect dialect = session.dialect();
		List<TaskRow> found = session.query(dialect
			.lockFirst("{columns}, case when octet_length(payload) <= ? then payload end as payload, traceparent",
					"{task} where name = ? and queue = " + queue
							+ " and next_at <= ? and (owner is null or next_at <= ?) order by name, queue, next_at",
					Session.padded(limit)),
				(rs, rowNum) -> TaskRow.readWhole(rs, dialect), dialect.storedBytes(claim.request.maxPayloadBytes()),
				dialect.text(name), until, now);
		return found.subList(0, Math.min(limit, found.size()));
	}

	/**
	 * Running, lease over: scheduled without its key, lost + 1.
	 * @return whether there were any
	 */
	static boolean lose(Session session, String name, long now) {
		List<String> ids = session.strings(session.dialect()
			.lockFirst("id",
					"{task} where name = ? and queue = {running} and next_at <= ? order by name, queue, next_at",
					MAX_ENDED),
				session.dialect().text(name), now);
		if (!ids.isEmpty()) {
			session.update(LOSE, TaskRow.micros(now), ids);
		}
		return !ids.isEmpty();
	}

	/**
	 * Scheduled: running if the task is due, and leased if it is due soon or is a
	 * suspect.
	 * @param begins {@code false} if none of the tasks begins
	 */
	static List<LeasedTask> lease(Session session, Claim claim, List<TaskRow> rows, long now, boolean begins) {
		long beginsAt = begins ? now : Long.MIN_VALUE;
		if (!rows.isEmpty()) {
			session.update(LEASE, claim.request.owner(), TaskRow.micros(now), now, Session.millis(claim.request.lease()), beginsAt,
					beginsAt, beginsAt, beginsAt, rows.stream().map((row) -> row.id).toList());
		}
		return rows.stream().map((row) -> row.leased(now, row.begins(beginsAt))).toList();
	}

}
