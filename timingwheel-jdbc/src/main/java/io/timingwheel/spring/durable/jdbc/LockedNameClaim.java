package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.StartLimits;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * One claim of a limited name, in the transaction that has locked the row of the name.
 * The claim
 * <ol>
 * <li>makes suspects of the running tasks whose leases have ended, and takes suspects
 * whose leases have ended away from their nodes. This raises the fences: from now on no
 * node can renew these leases, or begin these suspects,</li>
 * <li>counts the other running tasks of the name, which gives the free places,</li>
 * <li>begins as many of the tasks that are due as there are free places and as the rate
 * allows.</li>
 * </ol>
 * A running task thus has its place until its node acknowledges or gives back the task,
 * or until a claim takes the task away from its node. No place is stored, so no reply
 * that is lost, and no node that ends, can make the number of places wrong. A suspect
 * takes its place when a node leases the suspect.
 */
final class LockedNameClaim {

	/** How many leases that have ended one claim deals with. */
	private static final int MAX_ENDED = 1000;

	private final Database database;

	private final LimitRows rows;

	private final JdbcOperations jdbc;

	private final ClaimRequest request;

	private final Object name;

	private final StartLimits limits;

	private final long storedNextStart;

	private final long nextStart;

	private final TimeReading time;

	/** The time at which the claim began. */
	private final long now;

	/**
	 * Creates a claim.
	 * @param jdbc runs the statements of the transaction that has locked the name
	 * @param nextStart the value that {@link LimitRows#lock} has returned
	 */
	LockedNameClaim(Database database, LimitRows rows, JdbcOperations jdbc, ClaimRequest request, String name,
			StartLimits limits, long nextStart) {
		this.database = database;
		this.rows = rows;
		this.jdbc = jdbc;
		this.request = request;
		this.name = database.dialect().text(name);
		this.limits = limits;
		this.time = database.readTime(jdbc);
		this.now = this.time.millis();
		this.storedNextStart = nextStart;
		this.nextStart = (this.limits.intervalMicros() > 0) ? this.limits.atMost(nextStart, TaskRow.micros(this.now))
				: nextStart;
	}

	/**
	 * Begins tasks that are due.
	 * @param room how many tasks the node can take
	 */
	TakenTasks take(int room) {
		Running running = running();
		int ended = takeAwayEnded(running);
		long places = places(running, ended);
		int starts = startsAllowed();
		long suspects = running.waitingSuspects() + ended;
		// Some node takes a suspect soon. Without a free place the suspect could wait
		// for ever.
		long free = places - Math.min(1, suspects);
		int limit = (int) Math.min(room, Math.max(0, Math.min(free, starts)));
		// A task whose run was lost counts for its key until its next run has ended, so
		// that the tasks of a key run in their order.
		Map<String, Integer> busyKeys = (limit > 0) ? busyKeys("") : Map.of();
		List<FoundRow> found = findDue(limit, busyKeys);
		List<FoundRow> chosen = withoutBusyKeys(found, busyKeys, limit);
		boolean blockedByKeys = chosen.size() < Math.min(found.size(), limit);
		return taken(chosen, starts, free <= chosen.size() || blockedByKeys, ended > 0 && places > 0);
	}

	/**
	 * Leases the first suspect that does not have to wait for another task with its key,
	 * if there is a free place. Lost runs of a key do not wait for each other: only the
	 * tasks that a node has count.
	 */
	TakenTasks takeSuspect() {
		Running running = running();
		int starts = startsAllowed();
		if (places(running, takeAwayEnded(running)) <= 0 || starts == 0) {
			return taken(List.of(), starts, false, false);
		}
		Map<String, Integer> busyKeys = busyKeys(" and owner is not null");
		List<FoundRow> found = find(1, "owner is null", 1 + sum(busyKeys));
		return taken(withoutBusyKeys(found, busyKeys, 1), starts, false, false);
	}

	private long places(Running running, int ended) {
		return (this.limits.concurrent() > 0)
				? this.limits.concurrent() - (running.all() - ended) - running.leasedSuspects() : Integer.MAX_VALUE;
	}

	private int startsAllowed() {
		return this.limits.startsAllowed(this.nextStart, TaskRow.micros(this.now));
	}

	/**
	 * Leases the tasks, and counts their starts in the rate.
	 * @param starts how many tasks the rate allowed to start
	 * @param more whether the claim has made suspects that may start now
	 */
	private TakenTasks taken(List<FoundRow> chosen, int starts, boolean heldBack, boolean more) {
		List<ClaimedRow> tasks = FoundRow.lease(this.database, this.jdbc, this.request, chosen, this.now, this.now);
		long next = this.nextStart;
		if (!chosen.isEmpty() && this.limits.intervalMicros() > 0) {
			next = this.limits.nextStart(next, TaskRow.micros(this.now), chosen.size());
		}
		if (next != this.storedNextStart) {
			this.rows.setNextStart(this.jdbc, this.name, next);
		}
		return new TakenTasks(tasks, this.time,
				(starts <= chosen.size()) ? this.limits.startsAgainAt(next) : Long.MAX_VALUE, heldBack, more);
	}

	/**
	 * Counts the tasks that have places. The sums with 0 keep the database from using the
	 * index by time, in which the database would read all tasks that are due. The index
	 * with the suspects has only tasks with a next time. The conditions say so, since
	 * PostgreSQL would otherwise read all tasks of the name.
	 */
	private Running running() {
		return Objects.requireNonNull(this.jdbc.queryForObject(("select (select count(*) from %1$s where name = ?"
				+ " and status = %2$d and owner is not null) as running, (select count(*) from %1$s where name = ?"
				+ " and status = %2$d and owner is not null and suspect + 0 = 0 and next_at + 0 <= ?) as ended,"
				+ " (select count(*) from %1$s where name = ? and suspect = 1 and next_at is not null"
				+ " and status + 0 = %3$d and owner is not null) as leased_suspects,"
				+ " (select count(*) from %1$s where name = ?"
				+ " and suspect = 1 and owner is not null and next_at <= ?) as ended_suspects,"
				+ " (select count(*) from %1$s where name = ?"
				+ " and suspect = 1 and owner is null and next_at <= ?) as waiting_suspects")
			.formatted(this.database.table(), TaskRow.RUNNING, TaskRow.PENDING),
				(rs, rowNum) -> new Running(rs.getLong("running"), rs.getLong("ended"), rs.getLong("leased_suspects"),
						rs.getLong("ended_suspects"), rs.getLong("waiting_suspects")),
				this.name, this.name, this.now, this.name, this.name, this.now, this.name, this.now));
	}

	/**
	 * Makes suspects of the running tasks whose leases have ended, and takes suspects
	 * whose leases have ended away from their nodes. Tasks that other transactions have
	 * locked keep their places.
	 * @return how many tasks lost their nodes
	 */
	private int takeAwayEnded(Running running) {
		return ((running.ended() > 0)
				? takeAway("status = " + TaskRow.RUNNING + " and suspect + 0 = 0 and next_at + 0 <= ?") : 0)
				+ ((running.endedSuspects() > 0) ? takeAway("suspect = 1 and next_at <= ?") : 0);
	}

	private int takeAway(String condition) {
		List<String> ids = this.jdbc.query(
				("select id from %s where name = ? and owner is not null and %s limit %d for update skip locked")
					.formatted(this.database.table(), condition, MAX_ENDED),
				(rs, rowNum) -> rs.getString("id"), this.name, this.now);
		FoundRow.takeAway(this.database, this.jdbc, ids, this.now);
		return ids.size();
	}

	/**
	 * Locks the first tasks that are due. Some of them may have to wait for running tasks
	 * with their keys. A key has at most two pending tasks, of which one has a schedule.
	 * So for each running task at most two tasks wait.
	 */
	private List<FoundRow> findDue(int limit, Map<String, Integer> busyKeys) {
		return (limit == 0) ? List.of() : find(0, "status + 0 = " + TaskRow.PENDING, limit + 2 * sum(busyKeys));
	}

	private static int sum(Map<String, Integer> counts) {
		return counts.values().stream().mapToInt(Integer::intValue).sum();
	}

	/**
	 * Locks the first tasks of the name. The limit is part of the statement, so that the
	 * database knows the limit when it plans the statement. There are few limits, so that
	 * statements can be cached.
	 */
	private List<FoundRow> find(int suspect, String condition, int limit) {
		return this.jdbc.query(
				("select %s from %s where name = ? and suspect = ? and next_at <= ? and %s"
						+ " order by name, suspect, next_at limit %d for update skip locked")
					.formatted(FoundRow.COLUMNS_UP_TO_SIZE, this.database.table(), condition,
							Parameters.paddedSize(limit)),
				(rs, rowNum) -> FoundRow.read(rs, this.database.dialect()),
				this.database.dialect().storedBytes(this.request.maxPayloadBytes()), this.name, suspect, this.now);
	}

	/**
	 * Chooses the first tasks whose keys have fewer running tasks than they may have. A
	 * task that is chosen counts as running for the tasks after it.
	 */
	private List<FoundRow> withoutBusyKeys(List<FoundRow> found, Map<String, Integer> busyKeys, int limit) {
		Map<String, Integer> running = new HashMap<>(busyKeys);
		List<FoundRow> chosen = new ArrayList<>();
		for (FoundRow task : found) {
			String key = (this.limits.perKey() > 0) ? task.row().key() : null;
			if (chosen.size() < limit && (key == null || running.getOrDefault(key, 0) < this.limits.perKey())) {
				chosen.add(task);
				if (key != null) {
					running.merge(key, 1, Integer::sum);
				}
			}
		}
		return chosen;
	}

	/**
	 * How many running tasks each key has. A suspect that a node has leased counts too,
	 * since the suspect will run.
	 * @param condition a further condition for the running tasks, empty for none
	 */
	private Map<String, Integer> busyKeys(String condition) {
		Map<String, Integer> keys = new HashMap<>();
		if (this.limits.perKey() > 0) {
			count("status = " + TaskRow.RUNNING + condition, keys);
			count("suspect = 1 and next_at is not null and status + 0 = " + TaskRow.PENDING + " and owner is not null",
					keys);
		}
		return keys;
	}

	private void count(String condition, Map<String, Integer> keys) {
		this.jdbc.query("select task_key from " + this.database.table()
				+ " where name = ? and task_key is not null and " + condition, (rs) -> {
					keys.merge(Objects.requireNonNull(this.database.dialect().text(rs, "task_key")), 1, Integer::sum);
				}, this.name);
	}

	/**
	 * The numbers of tasks of a name.
	 *
	 * @param all the running tasks that a node has
	 * @param ended the running tasks whose leases have ended, without suspects
	 * @param leasedSuspects the pending suspects that a node has leased. A suspect whose
	 * run was lost is running
	 * @param endedSuspects the suspects that a node has leased, and whose leases have
	 * ended
	 * @param waitingSuspects the suspects that no node has
	 */
	private record Running(long all, long ended, long leasedSuspects, long endedSuspects, long waitingSuspects) {

	}

}
