package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.jdbc.JdbcLimitedClaims.Outlook;
import io.timingwheel.spring.durable.support.LimitedClaims;
import io.timingwheel.spring.durable.support.PartialClaim;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Claims tasks of names whose starts are limited over all nodes. Such a task is not
 * leased before it is due, and begins with the claim.
 *
 * <p>
 * A claim locks the row of the name in the table of limits. So no two claims of a name
 * run at the same time, and the first tasks of the name start first. With the lock, the
 * claim
 * <ol>
 * <li>makes suspects of the running tasks whose leases have ended, and takes suspects
 * whose leases have ended away from their nodes. This raises the fences: from now on no
 * node can renew these leases, or begin these suspects,</li>
 * <li>counts the other running tasks of the name, which gives the free places,</li>
 * <li>begins as many of the tasks that are due as there are free places and as the rate
 * allows.</li>
 * </ol>
 * A running task thus has its place until its node acknowledges or gives back the task,
 * or until a claim takes the task away from its node. Nobody has to remember a place, so
 * no reply that is lost, and no node that ends, can make the number of places wrong.
 *
 * <p>
 * A suspect takes its place when a node leases the suspect. Thread-safe.
 */
final class JdbcLimitedClaims extends LimitedClaims<Outlook> {

	private static final int LOCK_ATTEMPTS = 4;

	private static final long MAX_LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(3);

	/** How long to stay away from a name whose row another node has locked for long. */
	private static final long LOCKED_MILLIS = 20;

	/** How many leases that have ended one claim deals with. */
	private static final int MAX_ENDED = 1000;

	private final Database database;

	private final Dialect dialect;

	private final TableName table;

	private final LimitRows rows;

	private final Transitions transitions;

	JdbcLimitedClaims(Database database, LimitRows rows, Transitions transitions) {
		this.database = database;
		this.transitions = transitions;
		this.dialect = database.dialect();
		this.table = database.table();
		this.rows = rows;
	}

	@Override
	protected Claimed claimOthers(ClaimRequest request) {
		return this.transitions.claim(request);
	}

	/**
	 * Looks at the first tasks of each limited name, without locks.
	 */
	@Override
	protected Map<String, Outlook> look(ClaimRequest request) {
		List<String> names = List.copyOf(request.startLimits().keySet());
		String first = "(select next_at from " + this.table + " where name = ? and suspect = %d and next_at %s ?"
				+ " order by name, suspect, next_at limit 1)";
		String sql = "select %d as number, " + first.formatted(0, "<=") + " as due_at, " + first.formatted(1, "<=")
				+ " as suspect_at, " + first.formatted(0, ">") + " as later_at";
		return this.database.store().single((jdbc) -> {
			long now = this.database.now(jdbc);
			List<String> searches = new ArrayList<>();
			List<Object> parameters = new ArrayList<>();
			for (int i = 0; i < names.size(); i++) {
				Object name = this.dialect.text(names.get(i));
				searches.add(sql.formatted(i));
				parameters.addAll(List.of(name, now, name, now, name, now));
			}
			Map<String, Outlook> outlooks = new HashMap<>();
			jdbc.query(String.join(" union all ", searches), (rs) -> {
				outlooks.put(names.get(rs.getInt("number")),
						new Outlook(now, time(rs, "due_at"), time(rs, "suspect_at"), time(rs, "later_at")));
			}, parameters.toArray());
			return outlooks;
		});
	}

	private static long time(ResultSet rs, String column) throws SQLException {
		Long time = rs.getObject(column, Long.class);
		return (time != null) ? time : Long.MAX_VALUE;
	}

	@Override
	protected @Nullable Claimed claimSuspect(ClaimRequest request, Map<String, Outlook> looks) {
		List<String> names = looks.keySet()
			.stream()
			.filter((name) -> suspectAt(looks, name) < Long.MAX_VALUE)
			.sorted(Comparator.comparingLong((name) -> suspectAt(looks, name)))
			.toList();
		for (String name : names) {
			Taken taken = take(request, name, Claim::takeSuspect);
			if (!taken.tasks().isEmpty()) {
				return new Claimed(taken.tasks().stream().map(ClaimedRow::task).toList(), taken.now(), taken.now());
			}
		}
		return null;
	}

	private static long suspectAt(Map<String, Outlook> looks, String name) {
		return Objects.requireNonNull(looks.get(name)).suspectAt();
	}

	@Override
	protected void claimLimited(ClaimRequest request, String name, @Nullable Outlook look, int room,
			PartialClaim claim) {
		if (room == 0 || (look != null && look.dueAt() == Long.MAX_VALUE)) {
			return;
		}
		Taken taken = claimByCount(request, name, room, look != null);
		if (taken == null) {
			setBusy(name, false, look != null);
			if (look == null) {
				lookAfter(request, claim);
			}
			taken = take(request, name, (one) -> one.take(room));
		}
		claim.add(taken.tasks().stream().map(ClaimedRow::task).toList());
		claim.heard(taken.now());
		claim.startsAt(taken.startAt());
		if (taken.heldBack()) {
			claim.heldBack(name);
		}
		if (taken.more()) {
			claim.goesOnAt(taken.now());
		}
	}

	/**
	 * Claims tasks in one request.
	 * @return {@code null} if the name has other limits than a number of running tasks,
	 * if the database has no such request, or if runs of the name were lost
	 */
	private @Nullable Taken claimByCount(ClaimRequest request, String name, int room, boolean looked) {
		StartLimits limits = limits(request, name);
		if (limits.concurrent() == 0 || limits.perKey() > 0 || limits.intervalMicros() > 0) {
			return null;
		}
		CountedClaim claim;
		try {
			claim = this.transitions.claimLimited(request, name, room, limits.concurrent());
			if (claim != null && claim.places().missing()) {
				this.rows.create(name);
				claim = this.transitions.claimLimited(request, name, room, limits.concurrent());
			}
		}
		catch (ConcurrencyFailureException ex) {
			return Taken.locked(this.database.store().single(this.database::now));
		}
		if (claim == null || claim.places().hasLost()) {
			return null;
		}
		if (!claim.places().locked()) {
			return Taken.locked(claim.now());
		}
		int taken = claim.tasks().size();
		if (claim.places().free() > 0) {
			setBusy(name, taken == Math.min(room, claim.places().free()), looked);
		}
		boolean more = claim.nextAt() <= claim.now();
		return new Taken(claim.tasks(), claim.now(), more ? Long.MAX_VALUE : claim.nextAt(),
				claim.places().free() <= taken, more);
	}

	/**
	 * Takes tasks of a name, with the lock of the name.
	 */
	private Taken take(ClaimRequest request, String name, Function<Claim, Taken> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			Taken taken = this.database.store().<@Nullable Taken>transaction((jdbc, status) -> {
				Long nextStart = this.rows.lock(jdbc, this.dialect.text(name));
				return (nextStart != null) ? take.apply(new Claim(jdbc, request, name, nextStart)) : null;
			});
			if (taken != null) {
				return taken;
			}
			// The row is locked, or does not exist yet.
			this.rows.create(name);
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_LOCK_PAUSE));
		}
		return Taken.locked(this.database.store().single(this.database::now));
	}

	/**
	 * A limit that is part of a statement, so that the database knows the limit when it
	 * plans the statement. There are few limits, so that statements can be cached.
	 */
	private static int powerOfTwo(int limit) {
		return (limit <= 1) ? 1 : Integer.highestOneBit(limit - 1) << 1;
	}

	/**
	 * One claim of a name, with the lock of the name.
	 */
	private final class Claim {

		private final JdbcOperations jdbc;

		private final ClaimRequest request;

		private final Object name;

		private final StartLimits limits;

		private final long storedNextStart;

		private final long nextStart;

		private final long now;

		Claim(JdbcOperations jdbc, ClaimRequest request, String name, long nextStart) {
			this.jdbc = jdbc;
			this.request = request;
			this.name = JdbcLimitedClaims.this.dialect.text(name);
			this.limits = limits(request, name);
			this.now = JdbcLimitedClaims.this.database.now(jdbc);
			this.storedNextStart = nextStart;
			this.nextStart = (this.limits.intervalMicros() > 0)
					? this.limits.atMost(nextStart, TaskRow.micros(this.now)) : nextStart;
		}

		Taken take(int room) {
			Running running = running();
			int ended = takeAwayEnded(running);
			long places = places(running, ended);
			int starts = startsAllowed();
			long suspects = running.waitingSuspects() + ended;
			// Some node takes a suspect soon. Without a free place the suspect could wait
			// for ever.
			long free = places - Math.min(1, suspects);
			int limit = (int) Math.min(room, Math.max(0, Math.min(free, starts)));
			// A task whose run was lost counts for its key until its next run has ended,
			// so that the tasks of a key run in their order.
			Map<String, Integer> busyKeys = (limit > 0) ? busyKeys("") : Map.of();
			List<FoundRow> found = find(limit, busyKeys);
			List<FoundRow> chosen = withoutBusyKeys(found, busyKeys, limit);
			boolean blockedByKeys = chosen.size() < Math.min(found.size(), limit);
			return taken(chosen, starts, free <= chosen.size() || blockedByKeys, ended > 0 && places > 0);
		}

		/**
		 * Leases the first suspect that does not have to wait for another task with its
		 * key, if there is a free place. Lost runs of a key do not wait for each other:
		 * only those tasks count that a node has.
		 */
		Taken takeSuspect() {
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
		 * Leases the tasks, and takes their starts from the rate.
		 */
		private Taken taken(List<FoundRow> chosen, int starts, boolean heldBack, boolean suspects) {
			List<ClaimedRow> tasks = FoundRow.lease(JdbcLimitedClaims.this.database, this.jdbc, this.request, chosen,
					this.now, this.now);
			long next = this.nextStart;
			if (!chosen.isEmpty() && this.limits.intervalMicros() > 0) {
				next = this.limits.nextStart(next, TaskRow.micros(this.now), chosen.size());
			}
			if (next != this.storedNextStart) {
				JdbcLimitedClaims.this.rows.setNextStart(this.jdbc, this.name, next);
			}
			return new Taken(tasks, this.now,
					(starts <= chosen.size()) ? this.limits.startsAgainAt(next) : Long.MAX_VALUE, heldBack, suspects);
		}

		/**
		 * Counts the tasks that have places. The sums keep the database from using the
		 * index by time, in which it would walk through all tasks that are due.
		 */
		private Running running() {
			return Objects.requireNonNull(this.jdbc.queryForObject(("select (select count(*) from %1$s where name = ?"
					+ " and status = %2$d and owner is not null) as running, (select count(*) from %1$s where name = ?"
					+ " and status = %2$d and owner is not null and suspect + 0 = 0 and next_at + 0 <= ?) as ended,"
					+ " (select count(*) from %1$s where name = ? and suspect = 1 and status + 0 = %3$d"
					+ " and owner is not null) as leased_suspects, (select count(*) from %1$s where name = ?"
					+ " and suspect = 1 and owner is not null and next_at <= ?) as ended_suspects,"
					+ " (select count(*) from %1$s where name = ?"
					+ " and suspect = 1 and owner is null and next_at <= ?) as waiting_suspects")
				.formatted(JdbcLimitedClaims.this.table, TaskRow.RUNNING, TaskRow.PENDING),
					(rs, rowNum) -> new Running(rs.getLong("running"), rs.getLong("ended"),
							rs.getLong("leased_suspects"), rs.getLong("ended_suspects"),
							rs.getLong("waiting_suspects")),
					this.name, this.name, this.now, this.name, this.name, this.now, this.name, this.now));
		}

		/**
		 * Makes suspects of the running tasks whose leases have ended, and takes suspects
		 * whose leases have ended away from their nodes. Tasks that other transactions
		 * have locked keep their places.
		 * @return how many
		 */
		private int takeAwayEnded(Running running) {
			return ((running.ended() > 0)
					? takeAway("status = " + TaskRow.RUNNING + " and suspect + 0 = 0" + " and next_at + 0 <= ?") : 0)
					+ ((running.endedSuspects() > 0) ? takeAway("suspect = 1 and next_at <= ?") : 0);
		}

		private int takeAway(String condition) {
			List<String> ids = this.jdbc.query(
					("select id from %s where name = ? and owner is not null and %s limit %d for update skip locked")
						.formatted(JdbcLimitedClaims.this.table, condition, MAX_ENDED),
					(rs, rowNum) -> rs.getString("id"), this.name, this.now);
			FoundRow.takeAway(JdbcLimitedClaims.this.database, this.jdbc, ids, this.now);
			return ids.size();
		}

		/**
		 * Locks the first tasks that are due. A key has at most two pending tasks, of
		 * which one has a schedule. So there are at most twice as many tasks that have to
		 * wait for others with their keys as there are such others.
		 */
		private List<FoundRow> find(int limit, Map<String, Integer> busyKeys) {
			return (limit == 0) ? List.of() : find(0, "status + 0 = " + TaskRow.PENDING, limit + 2 * sum(busyKeys));
		}

		private static int sum(Map<String, Integer> counts) {
			return counts.values().stream().mapToInt(Integer::intValue).sum();
		}

		private List<FoundRow> find(int suspect, String condition, int limit) {
			return this.jdbc.query(
					("select %s, next_at, case when octet_length(payload) <= ? then payload end as payload, traceparent"
							+ " from %s where name = ? and suspect = ? and next_at <= ? and %s"
							+ " order by name, suspect, next_at limit %d for update skip locked")
						.formatted(TaskRow.COLUMNS, JdbcLimitedClaims.this.table, condition, powerOfTwo(limit)),
					(rs, rowNum) -> FoundRow.read(rs, JdbcLimitedClaims.this.dialect), this.request.maxPayloadBytes(),
					this.name, suspect, this.now);
		}

		/**
		 * Leaves out the tasks whose keys have as many running tasks as they may have,
		 * those included that are chosen here.
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
		 * How many running tasks each key has. A suspect that a node has leased will run.
		 */
		private Map<String, Integer> busyKeys(String condition) {
			Map<String, Integer> keys = new HashMap<>();
			if (this.limits.perKey() > 0) {
				count("status = " + TaskRow.RUNNING + condition, keys);
				count("suspect = 1 and status + 0 = " + TaskRow.PENDING + " and owner is not null", keys);
			}
			return keys;
		}

		private void count(String condition, Map<String, Integer> keys) {
			this.jdbc.query("select task_key from " + JdbcLimitedClaims.this.table
					+ " where name = ? and task_key is not null and " + condition, (rs) -> {
						keys.merge(Objects.requireNonNull(JdbcLimitedClaims.this.dialect.text(rs, "task_key")), 1,
								Integer::sum);
					}, this.name);
		}

	}

	/**
	 * The first times of a name, {@link Long#MAX_VALUE} for none.
	 *
	 * @param dueAt of the tasks that are due, or whose leases have ended
	 * @param suspectAt of the suspects
	 * @param laterAt of the tasks to claim later
	 */
	record Outlook(long now, long dueAt, long suspectAt, long laterAt) implements Look {

	}

	/**
	 * How many tasks of a name there are.
	 *
	 * @param all those that a node runs
	 * @param ended those of them whose leases have ended
	 * @param leasedSuspects suspects that a node has leased and not begun, without those
	 * whose earlier run was lost, which count as running
	 * @param endedSuspects suspects that a node has leased, and whose leases have ended
	 * @param waitingSuspects suspects that no node has
	 */
	private record Running(long all, long ended, long leasedSuspects, long endedSuspects, long waitingSuspects) {

	}

	/**
	 * What a claim took of one name.
	 *
	 * @param startAt when more may start
	 * @param heldBack whether others may be due and wait for the end of a running task
	 * @param more whether there is more to claim at once, such as a new suspect
	 */
	private record Taken(List<ClaimedRow> tasks, long now, long startAt, boolean heldBack, boolean more) {

		/**
		 * Nothing, since other nodes had the lock of the name.
		 */
		static Taken locked(long now) {
			return new Taken(List.of(), now, now + LOCKED_MILLIS, true, false);
		}

	}

}
