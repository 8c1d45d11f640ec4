package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.LeasedTask;

/** What a claim has taken and seen so far. Not thread-safe. */
final class ClaimProgress {

	static final long NEVER = Long.MAX_VALUE;

	final ClaimRequest request;

	final List<TaskRow> tasks = new ArrayList<>();

	/** The time by the database's clock, before the latest changes of tasks at worst. */
	long now;

	long startAt = NEVER;

	boolean more;

	boolean newSuspects;

	Set<String> pausedNames = Set.of();

	/** The first times of the names that are not paused. */
	Map<String, Look> looks = new HashMap<>();

	/** The time of the looks, by the database's clock. */
	long lookedAt;

	ClaimProgress(ClaimRequest request) {
		this.request = request;
	}

	// The first time in a queue of a name, or NEVER. The order has all columns of the
	// index, since H2 would otherwise sort all rows.
	static String first(String name, String queue, String condition) {
		return ("coalesce((select next_at from {task} where name = %s and queue = %s and next_at %s"
				+ " order by name, queue, next_at limit 1), %s)")
			.formatted(name, queue, condition, NEVER);
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

	/** For how long tasks are claimed before they are due. */
	long ahead(String name) {
		return isLimited(name) ? 0 : Session.millis(this.request.lookAhead());
	}

	/** The names in which a task can be claimed. */
	Stream<String> due() {
		return this.looks.keySet().stream().filter((name) -> look(name).dueAt() <= this.lookedAt + ahead(name));
	}

	/** The names in which the lease of a run has ended. */
	List<String> ended() {
		return this.looks.keySet().stream().filter((name) -> look(name).endAt() <= this.lookedAt).toList();
	}

	/** The names in which suspects wait, the earliest first. */
	List<String> suspects() {
		return this.looks.keySet()
			.stream()
			.filter((name) -> look(name).suspectAt() <= this.lookedAt)
			.sorted(Comparator.comparing((name) -> look(name).suspectAt()))
			.toList();
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

	/** A task of a name with limits may start then. */
	void startAt(long time) {
		this.startAt = Math.min(this.startAt, time);
	}

	Claimed result() {
		long nextAt = NEVER;
		for (String name : this.looks.keySet()) {
			if (isLimited(name)) {
				startAt(look(name).laterAt());
			}
			else {
				nextAt = Math.min(nextAt, look(name).nextAt(this.lookedAt));
			}
		}
		List<LeasedTask> leased = this.tasks.stream()
			.map(TaskRow::leased)
			.sorted(Comparator.comparingLong(LeasedTask::dueAt))
			.toList();
		return new Claimed(leased, this.now, nextAt, this.startAt, this.more, this.newSuspects, this.pausedNames);
	}

	/** Locks the first tasks of a queue that no node has, or whose leases have ended. */
	List<TaskRow> lockFirst(Session session, String name, String queue, long now, long until, int limit) {
		Dialect dialect = session.dialect();
		List<TaskRow> found = session.rows(dialect.lockFirst(TaskRow.CLAIM_COLUMNS,
				"{task} where name = ? and queue = " + queue + " and next_at <= ? and (owner is null or next_at <= ?)"
						+ Claiming.FIRST,
				Session.padded(limit)), this.request.maxPayloadBytes(), dialect.text(name), until, now);
		return found.subList(0, Math.min(limit, found.size()));
	}

	/** Leases locked tasks, or begins those that are due and no suspects. */
	List<TaskRow> lease(Session session, List<TaskRow> rows, long now, boolean begins) {
		for (TaskRow row : rows) {
			row.lease(this.request.owner(), now, Session.millis(this.request.lease()));
			if (begins && row.lost == 0 && row.dueAt <= now) {
				row.begin(now);
			}
		}
		session.write(rows);
		return rows;
	}

	/**
	 * The first times in the queues of a name: of the pending tasks, of those that are
	 * later than what a claim takes, of the ends of leases of runs, and of suspects.
	 */
	record Look(long dueAt, long laterAt, long endAt, long suspectAt) {

		static final Look NONE = new Look(NEVER, NEVER, NEVER, NEVER);

		long nextAt(long now) {
			long nextEnd = (this.endAt > now) ? this.endAt : NEVER;
			return Math.min(this.laterAt, Math.min(nextEnd, (this.suspectAt > now) ? this.suspectAt : NEVER));
		}

	}

}
