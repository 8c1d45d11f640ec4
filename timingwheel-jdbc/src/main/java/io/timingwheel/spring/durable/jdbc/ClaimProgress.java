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
 * What a claim, or a part of it, has seen and taken so far. Not thread-safe.
 */
final class ClaimProgress {

	static final long NEVER = Long.MAX_VALUE;

	private static final int MAX_ENDED = 128;

	final ClaimRequest request;

	final List<TaskRow> tasks = new ArrayList<>();

	private long now;

	/** When {@link #now} arrived, by the JVM's clock. */
	private long arrived;

	long startAt = NEVER;

	boolean more;

	boolean newSuspects;

	Set<String> pausedNames = Set.of();

	/** The first tasks of the names that are not paused. */
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

	/** For how long after now tasks are claimed. A limited name leases none before. */
	long ahead(String name) {
		return isLimited(name) ? 0 : Session.millis(this.request.lookAhead());
	}

	boolean hasDue(String name) {
		return look(name).dueAt() <= this.now + ahead(name);
	}

	boolean hasEnded(String name) {
		return look(name).endAt() <= this.now;
	}

	/** The names in which suspects wait, the earliest first. */
	List<String> suspects() {
		return this.looks.keySet()
			.stream()
			.filter((name) -> look(name).suspectAt() <= this.now)
			.sorted(Comparator.comparing((name) -> look(name).suspectAt()))
			.toList();
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
		long nextAt = NEVER;
		for (Map.Entry<String, Look> look : this.looks.entrySet()) {
			if (isLimited(look.getKey())) {
				this.startAt = Math.min(this.startAt, look.getValue().laterAt());
			}
			else {
				nextAt = Math.min(nextAt, look.getValue().nextAt(this.now));
			}
		}
		List<LeasedTask> leased = this.tasks.stream()
			.map(TaskRow::leased)
			.sorted(Comparator.comparingLong(LeasedTask::dueAt))
			.toList();
		return new Claimed(leased, this.now + database.millisSince(this.arrived), nextAt, this.startAt, this.more,
				this.newSuspects, this.pausedNames);
	}

	/** Claims the first tasks of names, up to their shares and a limit. */
	List<TaskRow> claim(Session session, Map<String, Share> wanted, int limit) {
		if (session.dialect().isPostgres()) {
			return PostgresClaim.claim(session, this, wanted, limit);
		}
		List<TaskRow> found = new ArrayList<>();
		for (Map.Entry<String, Share> each : wanted.entrySet()) {
			int due = Math.min(limit, each.getValue().due());
			int soon = Math.min(limit, each.getValue().soon());
			long until = this.now + ahead(each.getKey());
			for (TaskRow row : lockFirst(session, each.getKey(), "{pending}", until, due + soon)) {
				if (((row.foundAt() <= this.now) ? due-- : soon--) > 0) {
					found.add(row);
				}
			}
		}
		found.sort(Comparator.comparingLong(TaskRow::foundAt));
		return lease(session, found.subList(0, Math.min(limit, found.size())), true);
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

	/**
	 * The earliest times in the queues of a name: of the pending tasks, of those that are
	 * later than what a claim takes, of the ends of leases of runs, and of suspects.
	 */
	record Look(long dueAt, long laterAt, long endAt, long suspectAt) {

		long nextAt(long now) {
			long nextEnd = (this.endAt > now) ? this.endAt : NEVER;
			return Math.min(this.laterAt, Math.min(nextEnd, (this.suspectAt > now) ? this.suspectAt : NEVER));
		}

	}

}
