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

	/**
	 * The first time in a queue of a name. The order has all columns of the index, since
	 * H2 would otherwise sort all rows.
	 */
	static final String FIRST = "(select next_at from {task} where name = %s and queue = %s and next_at %s"
			+ " order by name, queue, next_at limit 1)";

	private static final int MAX_ENDED = 128;

	final ClaimRequest request;

	final List<TaskRow> tasks = new ArrayList<>();

	/** The time by the database's clock. */
	private long now;

	/** When {@link #now} arrived, by the JVM's clock. */
	private long arrived;

	long nextAt = NEVER;

	long startAt = NEVER;

	boolean more;

	boolean newSuspects;

	Set<String> pausedNames = Set.of();

	/** The names in which suspects wait, the earliest first, if the node wants one. */
	List<String> suspects = List.of();

	/** The first tasks of names that are not paused, at least of those with limits. */
	Map<String, Look> looks = new HashMap<>();

	ClaimProgress(ClaimRequest request) {
		this.request = request;
	}

	/** What a transaction on a name with limits takes. */
	ClaimProgress part(long now) {
		ClaimProgress part = new ClaimProgress(this.request);
		part.looks = this.looks;
		part.time(now);
		return part;
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

	long now() {
		return this.now;
	}

	void time(long now) {
		this.now = now;
		this.arrived = System.nanoTime();
	}

	/** Takes the tasks of names without limits, of which a request had a limit. */
	void add(List<TaskRow> claimed, int limit) {
		this.tasks.addAll(claimed);
		this.more |= claimed.size() >= limit;
		Map<String, int[]> counts = new HashMap<>();
		for (TaskRow task : claimed) {
			int[] count = counts.computeIfAbsent(task.name, (name) -> new int[2]);
			Share share = share(task.name);
			this.more |= task.isRunning() ? ++count[0] >= share.due() : ++count[1] >= share.soon();
		}
	}

	void add(ClaimProgress part) {
		this.tasks.addAll(part.tasks);
		this.startAt = Math.min(this.startAt, part.startAt);
		this.more |= part.more;
		this.newSuspects |= part.newSuspects;
	}

	Claimed result(Database database) {
		this.looks
			.forEach((name, look) -> this.startAt = Math.min(this.startAt, isLimited(name) ? look.laterAt() : NEVER));
		List<LeasedTask> leased = this.tasks.stream()
			.map(TaskRow::leased)
			.sorted(Comparator.comparingLong(LeasedTask::dueAt))
			.toList();
		return new Claimed(leased, this.now + database.millisSince(this.arrived), this.nextAt, this.startAt, this.more,
				this.newSuspects, this.pausedNames);
	}

	/** Locks the first tasks of a queue that no node has, or whose leases have ended. */
	List<TaskRow> lockFirst(Session session, String name, String queue, long until, int limit) {
		Dialect dialect = session.dialect();
		List<TaskRow> found = session.rows(
				dialect.lockFirst(TaskRow.CLAIM_COLUMNS,
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
	List<TaskRow> lease(Session session, List<TaskRow> rows, boolean begins) {
		for (TaskRow row : rows) {
			row.lease(this.request.owner(), this.now, Session.millis(this.request.lease()));
			if (begins && row.lost == 0 && row.dueAt <= this.now) {
				row.begin(this.now);
			}
		}
		session.write(rows);
		return rows;
	}

	/** The times of the first task that is due, run that has ended, and later task. */
	record Look(long dueAt, long endedAt, long laterAt) {

		boolean hasWork() {
			return this.dueAt != NEVER || this.endedAt != NEVER;
		}

	}

}
