package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * What a claim, or a part of it, has taken and seen so far. Not thread-safe.
 */
final class ClaimProgress {

	static final long NEVER = Long.MAX_VALUE;

	private static final int MAX_ENDED = 128;

	final ClaimRequest request;

	final List<LeasedTask> tasks = new ArrayList<>();

	/** The time by the database's clock. */
	long now;

	/** When {@link #now} arrived, by the JVM's clock. */
	private long arrived;

	long nextAt = NEVER;

	long startAt = NEVER;

	boolean more;

	boolean newSuspects;

	Set<String> pausedNames = Set.of();

	/** The names in which suspects wait, the earliest first, if the node wants one. */
	List<String> suspects = List.of();

	/** The first tasks of the names with limits that are not paused. */
	Map<String, Look> looks = Map.of();

	ClaimProgress(ClaimRequest request) {
		this.request = request;
	}

	Share share(String name) {
		return Objects.requireNonNull(this.request.names().get(name));
	}

	Look look(String name) {
		return Objects.requireNonNull(this.looks.get(name));
	}

	boolean isLimited(String name) {
		return share(name).limits() != null;
	}

	/** Takes the tasks of names without limits, of which a request had a limit. */
	void add(List<LeasedTask> claimed, int limit) {
		this.tasks.addAll(claimed);
		this.more |= limit > 0 && claimed.size() >= limit;
		Map<String, int[]> counts = new HashMap<>();
		for (LeasedTask task : claimed) {
			int[] count = counts.computeIfAbsent(task.name(), (name) -> new int[2]);
			Share share = share(task.name());
			this.more |= task.begun() ? ++count[0] >= share.due() : ++count[1] >= share.soon();
		}
	}

	/** Takes what a transaction on a name with limits has claimed. */
	void add(ClaimProgress part) {
		this.tasks.addAll(part.tasks);
		this.startAt = Math.min(this.startAt, part.startAt);
		this.more |= part.more;
		this.newSuspects |= part.newSuspects;
	}

	void time(long now) {
		this.now = now;
		this.arrived = System.nanoTime();
	}

	Claimed result(Database database) {
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		long laterAt = this.looks.values().stream().mapToLong(Look::laterAt).min().orElse(NEVER);
		return new Claimed(List.copyOf(this.tasks), this.now + database.millisSince(this.arrived), this.nextAt,
				Math.min(this.startAt, laterAt), this.more, this.newSuspects, this.pausedNames);
	}

	/**
	 * Locks the first tasks of a queue that no node has, or whose leases have ended. The
	 * order has all columns of the index, since H2 would otherwise sort all rows.
	 */
	List<TaskRow> lockFirst(Session session, String name, String queue, long until, int limit) {
		Dialect dialect = session.dialect();
		List<TaskRow> found = session.rows(
				dialect.lockFirst(
						TaskRow.STATE_COLUMNS
								+ ", case when octet_length(payload) <= ? then payload end as payload, traceparent",
						"{task} where name = ? and queue = " + queue
								+ " and next_at <= ? and (owner is null or next_at <= ?) order by name, queue, next_at",
						Session.padded(limit)),
				dialect.storedBytes(this.request.maxPayloadBytes()), dialect.text(name), until, this.now);
		return found.subList(0, Math.min(limit, found.size()));
	}

	/** Makes suspects of runs whose leases have ended. */
	void lose(Session session, String name) {
		List<TaskRow> ended = session.rows(session.dialect()
			.lockFirst("{columns}",
					"{task} where name = ? and queue = {running} and next_at <= ? order by name, queue, next_at",
					MAX_ENDED),
				session.dialect().text(name), this.now);
		ended.forEach((row) -> row.lose(this.now));
		session.write(ended);
		this.newSuspects |= !ended.isEmpty();
	}

	/** Leases locked tasks, or begins those that are due and no suspects. */
	List<LeasedTask> lease(Session session, List<TaskRow> rows, boolean begins) {
		for (TaskRow row : rows) {
			row.lease(this.request.owner(), this.now, Session.millis(this.request.lease()));
			if (begins && row.lost == 0 && row.dueAt <= this.now) {
				row.begin();
			}
		}
		session.write(rows);
		return rows.stream().map(TaskRow::leased).toList();
	}

	/** The times of the first task that is due, run that has ended, and later task. */
	record Look(long dueAt, long endedAt, long laterAt) {

		boolean hasWork() {
			return this.dueAt != NEVER || this.endedAt != NEVER;
		}

	}

}
