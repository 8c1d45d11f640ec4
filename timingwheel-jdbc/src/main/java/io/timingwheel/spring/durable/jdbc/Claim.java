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
 * What a claim has taken and seen so far. Not thread-safe.
 */
final class Claim {

	static final long NEVER = Long.MAX_VALUE;

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

	final ClaimRequest request;

	final List<LeasedTask> tasks = new ArrayList<>();

	/** The time by the database's clock, and when it arrived. */
	long now;

	long arrived;

	long nextAt = NEVER;

	long startAt = NEVER;

	boolean more;

	boolean newSuspects;

	Set<String> pausedNames = Set.of();

	/** The names in which suspects wait, the earliest first, if the node wants one. */
	List<String> suspects = List.of();

	/** The first tasks of the names with limits that are not paused. */
	Map<String, Look> looks = Map.of();

	Claim(ClaimRequest request) {
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

	/**
	 * Takes the tasks of names without limits that a request has claimed.
	 * @param limit how many the request might claim
	 * @param left whether the request has found tasks and not taken them
	 */
	void add(List<LeasedTask> claimed, int limit, boolean left) {
		this.tasks.addAll(claimed);
		this.more |= left || (limit > 0 && claimed.size() >= limit);
		Map<String, int[]> counts = new HashMap<>();
		for (LeasedTask task : claimed) {
			int[] count = counts.computeIfAbsent(task.name(), (name) -> new int[2]);
			Share share = share(task.name());
			this.more |= task.begun() ? ++count[0] >= share.due() : ++count[1] >= share.soon();
		}
	}

	void add(NameLimits.Taken taken) {
		this.tasks.addAll(taken.tasks());
		this.startAt = Math.min(this.startAt, taken.startAt());
		this.more |= taken.more();
		this.newSuspects |= taken.newSuspects();
	}

	Claimed result(long elapsed, Set<String> paused) {
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		long laterAt = this.looks.values().stream().mapToLong(Look::laterAt).min().orElse(NEVER);
		return new Claimed(List.copyOf(this.tasks), this.now + elapsed, this.nextAt, Math.min(this.startAt, laterAt),
				this.more, this.newSuspects, paused);
	}

	/**
	 * Locks the first tasks of a queue that no node has, or whose leases have ended. The
	 * order has all columns of the index, since H2 would otherwise sort all rows.
	 * @param until the last time by which claims find the tasks
	 */
	List<TaskRow> lockFirst(Session session, String name, String queue, long now, long until, int limit) {
		Dialect dialect = session.dialect();
		List<TaskRow> found = session.rows(
				dialect.lockFirst(
						TaskRow.STATE_COLUMNS
								+ ", case when octet_length(payload) <= ? then payload end as payload, traceparent",
						"{task} where name = ? and queue = " + queue
								+ " and next_at <= ? and (owner is null or next_at <= ?) order by name, queue, next_at",
						Session.padded(limit)),
				dialect.storedBytes(this.request.maxPayloadBytes()), dialect.text(name), until, now);
		return found.subList(0, Math.min(limit, found.size()));
	}

	/**
	 * Makes suspects of runs whose leases have ended.
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
	 * Begins the tasks that are due and no suspects, and leases the others.
	 * @param begins {@code false} if none of the tasks begins
	 */
	List<LeasedTask> lease(Session session, List<TaskRow> rows, long now, boolean begins) {
		long beginsAt = begins ? now : Long.MIN_VALUE;
		if (!rows.isEmpty()) {
			session.update(LEASE, this.request.owner(), TaskRow.micros(now), now, Session.millis(this.request.lease()),
					beginsAt, beginsAt, beginsAt, beginsAt, rows.stream().map((row) -> row.id).toList());
		}
		return rows.stream().map((row) -> row.leased(now, row.begins(beginsAt))).toList();
	}

	/**
	 * The times of the first tasks of a name: of those that are due, of the runs whose
	 * leases have ended, and of those that are due later.
	 */
	record Look(long dueAt, long endedAt, long laterAt) {

		boolean hasWork() {
			return this.dueAt != NEVER || this.endedAt != NEVER;
		}

	}

}
