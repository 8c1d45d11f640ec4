package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
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
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;
import io.timingwheel.spring.durable.support.LimitedClaims;
import io.timingwheel.spring.durable.support.PartialClaim;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;

/**
 * Claims tasks of names whose starts are limited over all nodes. Such a task is not
 * leased before it is due, and begins with the claim.
 *
 * <p>
 * A claim locks the row of the name in the table of limits ({@link LockedNameClaim}). So
 * no two claims of a name run at the same time, and the first tasks of the name start
 * first. If the only limit is the number of running tasks, PostgreSQL locks and claims in
 * one request ({@link LimitedClaimStatement}). Thread-safe.
 */
final class JdbcLimitedClaims extends LimitedClaims<FirstTimes> {

	private static final int LOCK_ATTEMPTS = 4;

	private static final long MAX_LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(3);

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
	 * Looks at the first tasks of each limited name, without locks, and no further ahead
	 * than the node sleeps.
	 */
	@Override
	protected Map<String, FirstTimes> look(ClaimRequest request) {
		List<String> names = List.copyOf(request.startLimits().keySet());
		String first = "(select next_at from " + this.table + " where name = ? and suspect = %d"
				+ " and next_at between ? and ? order by name, suspect, next_at limit 1)";
		String sql = "select %d as number, " + first.formatted(0) + " as due_at, " + first.formatted(1)
				+ " as suspect_at, " + first.formatted(0) + " as later_at";
		return this.database.store().single((jdbc) -> {
			long now = this.database.now(jdbc);
			long horizon = now + LeaseTimes.horizon(Duration.ZERO, request);
			Search search = this.transitions.look(names);
			List<String> searches = new ArrayList<>();
			List<Object> parameters = new ArrayList<>();
			for (int i = 0; i < names.size(); i++) {
				Object name = this.dialect.text(names.get(i));
				searches.add(sql.formatted(i));
				parameters.addAll(List.of(name, search.floors().get(i), now, name, ClaimFloors.NONE, now, name, now + 1,
						horizon));
			}
			Map<String, FirstTimes> looks = new HashMap<>();
			jdbc.query(this.transitions.lookText(String.join(" union all ", searches)), (rs) -> {
				this.transitions.readLook(rs);
				looks.put(names.get(rs.getInt("number")), FirstTimes.read(rs, now));
			}, parameters.toArray());
			this.transitions.looked(search, looks);
			return looks;
		});
	}

	@Override
	protected @Nullable Claimed claimSuspect(ClaimRequest request, Map<String, FirstTimes> looks) {
		List<String> names = looks.keySet()
			.stream()
			.filter((name) -> suspectAt(looks, name) < Long.MAX_VALUE)
			.sorted(Comparator.comparingLong((name) -> suspectAt(looks, name)))
			.toList();
		for (String name : names) {
			TakenTasks taken = take(request, name, LockedNameClaim::takeSuspect);
			if (!taken.rows().isEmpty()) {
				long now = taken.time().now();
				return new Claimed(taken.tasks(), now, now);
			}
		}
		return null;
	}

	private static long suspectAt(Map<String, FirstTimes> looks, String name) {
		return Objects.requireNonNull(looks.get(name)).suspectAt();
	}

	/**
	 * Leases tasks that are too late to start. This needs no lock of the name, since
	 * these tasks do not count.
	 */
	@Override
	protected boolean claimExpired(ClaimRequest request, String name, FirstTimes look, Duration expireAfter, int room,
			PartialClaim claim) {
		List<LeasedTask> tasks = this.database.store().transaction((jdbc, status) -> {
			long now = this.database.now(jdbc);
			List<FoundRow> found = jdbc.query(
					("select %s from %s where name = ? and suspect = 0 and next_at < ? and status + 0 = %d"
							+ " order by name, suspect, next_at limit %d for update skip locked")
						.formatted(FoundRow.COLUMNS_UP_TO_SIZE, this.table, TaskRow.PENDING,
								Parameters.paddedSize(room)),
					(rs, rowNum) -> FoundRow.read(rs, this.dialect),
					this.dialect.storedBytes(request.maxPayloadBytes()), this.dialect.text(name),
					now - LeaseTimes.millis(expireAfter));
			return FoundRow.leaseUnbegun(this.database, jdbc, request, found.subList(0, Math.min(room, found.size())),
					now);
		});
		claim.add(tasks);
		return tasks.size() == room;
	}

	@Override
	protected void claimLimited(ClaimRequest request, String name, @Nullable FirstTimes look, int room,
			PartialClaim claim) {
		if (room == 0 || (look != null && look.dueAt() == Long.MAX_VALUE)) {
			return;
		}
		TakenTasks taken = claimByCount(request, name, room, look);
		if (taken == null) {
			setIdle(name);
			if (look == null) {
				lookAfter(request, claim);
			}
			taken = take(request, name, (one) -> one.take(room));
		}
		long now = taken.time().now();
		claim.add(taken.tasks());
		claim.heard(now);
		claim.startsAt(taken.startAt());
		if (taken.heldBack()) {
			claim.heldBack(name);
		}
		if (taken.more()) {
			claim.goesOnAt(now);
		}
	}

	/**
	 * Claims tasks in one request.
	 * @param look what the claim saw of the name, {@code null} if it has not looked
	 * @return {@code null} if the name has other limits than a number of running tasks,
	 * if the database has no such request, or if runs of the name were lost
	 */
	private @Nullable TakenTasks claimByCount(ClaimRequest request, String name, int room, @Nullable FirstTimes look) {
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
			return locked();
		}
		if (claim == null || claim.places().hasLost()) {
			return null;
		}
		if (!claim.places().locked()) {
			return TakenTasks.locked(claim.time());
		}
		int count = claim.tasks().size();
		int free = claim.places().free();
		if (free > 0 && count == Math.min(room, free)) {
			if (look != null) {
				setBusy(name);
			}
		}
		else if (free > 0) {
			setIdle(name);
		}
		return new TakenTasks(claim.tasks(), claim.time(), claim.more() ? Long.MAX_VALUE : claim.nextAt(),
				free <= count, claim.more());
	}

	private TakenTasks locked() {
		return TakenTasks.locked(this.database.store().single(this.database::readTime));
	}

	/**
	 * Locks a name, and takes tasks of the name.
	 */
	private TakenTasks take(ClaimRequest request, String name, Function<LockedNameClaim, TakenTasks> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			TakenTasks taken = this.database.store().<@Nullable TakenTasks>transaction((jdbc, status) -> {
				Long nextStart = this.rows.lock(jdbc, this.dialect.text(name));
				if (nextStart == null) {
					return null;
				}
				return take.apply(new LockedNameClaim(this.database, this.rows, jdbc, request, name,
						limits(request, name), nextStart));
			});
			if (taken != null) {
				return taken;
			}
			// The row is locked, or does not exist yet.
			this.rows.create(name);
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_LOCK_PAUSE));
		}
		return locked();
	}

}
