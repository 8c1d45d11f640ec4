package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.jdbc.ClaimProgress.Look;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;

/**
 * Claim. The first request looks, without locks, at the first tasks of each name. The
 * second one claims tasks of the names without limits. A name with limits that has due
 * tasks takes a transaction more, and so does a suspect.
 *
 * <p>
 * A database may keep the index entries of tasks that have ended as long as any
 * transaction may see them. So the store remembers up to which time a name has been
 * searched, its floor. Tasks may still appear before it, when an application commits
 * late. About once a second a claim therefore sweeps: it begins with the first entries,
 * and also looks for runs whose leases have ended.
 */
final class Claiming {

	private static final Log logger = LogFactory.getLog(Claiming.class);

	private static final int LOCK_ATTEMPTS = 4;

	private static final long MAX_LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(3);

	/** How long after failed attempts to lock a name the next claim tries again. */
	private static final long LOCKED_MILLIS = 20;

	private static final String PAUSED = "(select count(*) from {name} where paused = 1)";

	/** H2 would parse a union again each time, and MySQL would not search a join. */
	private static final String LOOK = firstTimes("?", ">= ?", "> ?", "> ?");

	private static final String POSTGRES_LOOK = "select " + PAUSED + ", c.now, "
			+ firstTimes("n.name", ">= n.since", "> c.now + n.ahead", "> n.ends")
			+ """
					, n.number from (select {now} as now) c left join unnest((select ?::text[]), (select ?::bigint[]),
						(select ?::bigint[]), (select ?::bigint[])) with ordinality as n (name, since, ahead, ends, number)
					on true""";

	/** How many names one statement looks at. A row has a limited number of columns. */
	private static final int MAX_NAMES = 512;

	private static final long SWEEP_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/** How far a floor stays behind the time, for transactions that commit late. */
	private static final long LATE_COMMIT_MILLIS = 1000;

	private final Database database;

	private final Map<String, Long> floors = new ConcurrentHashMap<>();

	private volatile long sweepAt = System.nanoTime();

	/** Whether the latest claim took tasks with limits, or had no room for them. */
	private volatile boolean limitedWork;

	Claiming(Database database) {
		this.database = database;
	}

	private static String firstTimes(String name, String since, String later, String ends) {
		return String.join(", ", first(name, "{pending}", since), first(name, "{pending}", later),
				first(name, "{running}", ends), first(name, "{suspect}", "> -1"));
	}

	/** The order has all columns of the index, since H2 would otherwise sort all rows. */
	private static String first(String name, String queue, String condition) {
		return "(select next_at from {task} where name = %s and queue = %s and next_at %s".formatted(name, queue,
				condition) + " order by name, queue, next_at limit 1)";
	}

	Claimed claim(ClaimRequest request) {
		ClaimProgress progress = this.database.node().single((session) -> look(session, request));
		try {
			List<String> suspects = request.suspect() ? progress.suspects() : List.of();
			for (int i = 0; i < suspects.size() && progress.tasks.isEmpty(); i++) {
				locked(progress, suspects.get(i), NameLimits::takeSuspect);
				progress.more |= !progress.tasks.isEmpty();
			}
			if (progress.tasks.isEmpty()) {
				// Names with limits that had tasks get a half, and what the others leave.
				int limit = this.limitedWork ? request.limit() / 2 : request.limit();
				takeUnlimited(progress, limit);
				takeLimited(progress, request.limit() - progress.tasks.size());
				if (limit == 0 && progress.tasks.isEmpty()) {
					takeUnlimited(progress, request.limit());
				}
			}
		}
		catch (RuntimeException ex) {
			// The node must learn of tasks that have begun.
			if (progress.tasks.isEmpty()) {
				throw ex;
			}
			logger.warn("A part of a claim has failed, after the claim of other tasks", ex);
		}
		return progress.result(this.database);
	}

	private ClaimProgress look(Session session, ClaimRequest request) {
		ClaimProgress progress = new ClaimProgress(request);
		// The clock of a test may stand still.
		boolean given = this.database.isTimeGiven();
		boolean sweeps = given || System.nanoTime() - this.sweepAt >= 0;
		if (sweeps) {
			this.sweepAt = System.nanoTime() + (given ? 0 : SWEEP_PAUSE);
		}
		List<String> names = List.copyOf(request.names().keySet());
		boolean paused = false;
		for (int from = 0; from == 0 || from < names.size(); from += MAX_NAMES) {
			paused |= look(session, progress, names.subList(from, Math.min(names.size(), from + MAX_NAMES)), sweeps);
		}
		progress.pausedNames = paused ? TaskNames.paused(session) : Set.of();
		progress.looks.keySet().removeAll(progress.pausedNames);
		return progress;
	}

	private boolean look(Session session, ClaimProgress progress, List<String> names, boolean sweeps) {
		List<Object> texts = names.stream().map(session.dialect()::text).toList();
		List<Long> since = names.stream().map((name) -> sweeps ? 0L : this.floors.getOrDefault(name, 0L)).toList();
		List<Long> ahead = names.stream().map(progress::ahead).toList();
		long ends = sweeps ? -1 : DelayedTaskStore.MAX_TIME;
		if (session.dialect().isPostgres()) {
			return session.planned(POSTGRES_LOOK, (rs) -> {
				boolean paused = false;
				while (rs.next()) {
					paused = rs.getLong(1) > 0;
					progress.time(rs.getLong(2));
					if (!names.isEmpty()) {
						add(rs, progress, names.get(rs.getInt(7) - 1), 3);
					}
				}
				return paused;
			}, session.givenTime(), texts.toArray(new String[0]), since.toArray(new Long[0]),
					ahead.toArray(new Long[0]), Collections.nCopies(names.size(), ends).toArray(new Long[0]));
		}
		progress.time(session.now());
		int padded = Session.padded(names.size());
		List<Object> parameters = new ArrayList<>();
		for (int i = 0; i < padded; i++) {
			int each = Math.min(i, names.size() - 1);
			Object text = texts.get(each);
			parameters.addAll(List.of(text, since.get(each), text, progress.now() + ahead.get(each), text, ends, text));
		}
		return session.query("select " + PAUSED + (", " + LOOK).repeat(padded), (rs, rowNum) -> {
			for (int i = 0; i < names.size(); i++) {
				add(rs, progress, names.get(i), 2 + 4 * i);
			}
			return rs.getLong(1) > 0;
		}, parameters.toArray()).get(0);
	}

	private void add(ResultSet rs, ClaimProgress progress, String name, int column) throws SQLException {
		long dueAt = time(rs, column);
		this.floors.put(name, Math.min(dueAt, progress.now() - LATE_COMMIT_MILLIS));
		progress.looks.put(name, new Look(dueAt, time(rs, column + 1), time(rs, column + 2), time(rs, column + 3)));
	}

	private static long time(ResultSet rs, int column) throws SQLException {
		long time = rs.getLong(column);
		return rs.wasNull() ? ClaimProgress.NEVER : time;
	}

	private void takeUnlimited(ClaimProgress progress, int limit) {
		Session node = this.database.node();
		List<String> names = progress.looks.keySet().stream().filter((name) -> !progress.isLimited(name)).toList();
		List<String> ended = names.stream().filter(progress::hasEnded).toList();
		if (!ended.isEmpty()) {
			node.transaction((session) -> {
				ended.forEach((name) -> progress.lose(session, name));
				return ended;
			});
		}
		Map<String, Share> wanted = names.stream()
			.filter(progress::hasDue)
			.collect(Collectors.toMap(Function.identity(), progress::share));
		List<TaskRow> claimed = List.of();
		if (!wanted.isEmpty()) {
			claimed = this.database.dialect().isPostgres()
					? node.single((session) -> progress.claim(session, wanted, limit)) : node.transaction((session) -> {
						progress.time(session.now());
						return progress.claim(session, wanted, limit);
					});
		}
		progress.add(claimed, limit);
	}

	private void takeLimited(ClaimProgress progress, int room) {
		List<String> names = new ArrayList<>(progress.looks.keySet());
		names.removeIf((name) -> !progress.isLimited(name) || !(progress.hasDue(name) || progress.hasEnded(name)));
		// Each name comes first in some claims.
		Collections.shuffle(names);
		int before = progress.tasks.size();
		this.limitedWork = false;
		for (String name : names) {
			int most = Math.min(before + room - progress.tasks.size(), progress.share(name).due());
			if (most > 0) {
				locked(progress, name, (locked) -> locked.take(most));
			}
			else {
				progress.more = true;
			}
		}
		this.limitedWork = !names.isEmpty() && (room == 0 || progress.tasks.size() > before);
	}

	private void locked(ClaimProgress progress, String name, Consumer<NameLimits> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			try {
				ClaimProgress part = this.database.node().<@Nullable ClaimProgress>once(false, (session) -> {
					NameLimits locked = NameLimits.lock(session, progress, name);
					if (locked == null) {
						return null;
					}
					take.accept(locked);
					return locked.part;
				});
				if (part != null) {
					progress.add(part);
					return;
				}
			}
			catch (ConcurrencyFailureException ex) {
				// Other nodes have the lock.
			}
			// The row is locked, or does not exist yet.
			this.database.node().once(false, (session) -> TaskNames.create(session, name));
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_LOCK_PAUSE));
		}
		progress.startAt = Math.min(progress.startAt, progress.now() + LOCKED_MILLIS);
		progress.more = true;
	}

}
