package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * The claim in SQL that H2, MariaDB and MySQL understand. It first looks, without locks,
 * at the first tasks of each name. It then locks the rows of the names that have tasks to
 * claim, decides, and writes.
 */
final class PortableClaims implements ClaimSteps {

	private static final long NEVER = Long.MAX_VALUE;

	private static final String FIRST = ", (select next_at from {task} where name = ? and queue = %s and next_at > ?"
			+ " order by name, queue, next_at limit 1)";

	private static final String LOOK = FIRST.formatted("{pending}") + FIRST.formatted("{running}")
			+ FIRST.formatted("{suspect}");

	private static final String ANY_PAUSED = "(select count(*) from {name} where paused = 1)";

	/** A row of MySQL has at most 4096 columns. */
	private static final int MAX_NAMES = 1000;

	private final Database database;

	private final TaskNames names;

	/** The statements that look at so many names. */
	private final Map<Integer, String> looks = new ConcurrentHashMap<>();

	PortableClaims(Database database) {
		this.database = database;
		this.names = new TaskNames(database);
	}

	@Override
	public Round claim(ClaimRequest request, Map<String, Long> since) {
		Round seen = this.database.node().single((session) -> look(session, request));
		Map<String, Look> looks = new HashMap<>(seen.looks());
		looks.keySet().removeIf((name) -> share(request, name).limits() != null);
		seen.looks().keySet().removeAll(looks.keySet());
		List<String> suspects = request.suspect() ? seen.suspects() : List.of();
		boolean idle = looks.values().stream().noneMatch((look) -> look.hasDue() || look.hasEnded());
		Round taken = (idle || !suspects.isEmpty()) ? seen
				: this.database.node().transaction((session) -> take(session, request, looks));
		long nextAt = looks.values().stream().mapToLong(Look::laterAt).min().orElse(NEVER);
		return new Round(taken.tasks(), taken.now(), nextAt, taken.newSuspects(), false, suspects, seen.pausedNames(),
				seen.looks());
	}

	private static Share share(ClaimRequest request, String name) {
		return Objects.requireNonNull(request.names().get(name));
	}

	/**
	 * Looks at each name, and again behind the tasks that a claim may take. The due times
	 * include the look-ahead of the names without limits.
	 */
	private Round look(Session session, ClaimRequest request) {
		long now = session.now();
		Map<String, Long> ahead = new HashMap<>();
		request.names()
			.forEach((name, share) -> ahead.put(name,
					(share.limits() != null) ? now : now + Session.millis(request.lookAhead())));
		Map<String, long[]> first = new HashMap<>();
		boolean anyPaused = firstTimes(session, ahead.keySet(), Map.of(), -DelayedTaskStore.MAX_TIME - 1, first);
		Set<String> paused = anyPaused ? this.names.paused(session) : Set.of();
		first.keySet().removeAll(paused);
		Map<String, long[]> later = new HashMap<>();
		List<String> found = first.entrySet().stream().filter((name) -> {
			long[] times = name.getValue();
			return times[0] <= ahead.getOrDefault(name.getKey(), now) || times[1] <= now || times[2] <= now;
		}).map(Map.Entry::getKey).toList();
		if (!found.isEmpty()) {
			firstTimes(session, found, ahead, now, later);
		}
		Map<String, Look> looks = new HashMap<>();
		Map<String, Long> suspects = new HashMap<>();
		first.forEach((name, times) -> {
			long[] next = later.getOrDefault(name, times);
			long laterAt = (share(request, name).limits() != null) ? next[0] : LongStream.of(next).min().getAsLong();
			looks.put(name, new Look(until(times[0], ahead.getOrDefault(name, now)), until(times[1], now), laterAt));
			if (times[2] <= now) {
				suspects.put(name, times[2]);
			}
		});
		List<String> earliest = suspects.keySet().stream().sorted(Comparator.comparing(suspects::get)).toList();
		return new Round(List.of(), now, NEVER, false, false, earliest, paused, looks);
	}

	private static long until(long time, long last) {
		return (time <= last) ? time : NEVER;
	}

	/**
	 * Finds the first times of names: of their pending tasks, their runs and their
	 * suspects. All searches are the columns of one row. H2 would parse a union again
	 * each time, and MySQL would search from the beginning if the names were a table.
	 * @param after after which time to search the pending tasks of a name, if not after
	 * the time for the others
	 * @return whether names are paused
	 */
	private boolean firstTimes(Session session, Collection<String> names, Map<String, Long> after, long othersAfter,
			Map<String, long[]> first) {
		List<String> some = names.stream().limit(MAX_NAMES).toList();
		List<Object> parameters = new ArrayList<>();
		for (String name : some) {
			Object text = session.dialect().text(name);
			parameters
				.addAll(List.of(text, after.getOrDefault(name, othersAfter), text, othersAfter, text, othersAfter));
		}
		String statement = this.looks.computeIfAbsent(some.size(),
				(size) -> "select " + ANY_PAUSED + String.join("", Collections.nCopies(size, LOOK)));
		boolean anyPaused = session.query(statement, (rs, rowNum) -> {
			int column = 1;
			for (String name : some) {
				long[] times = new long[3];
				for (int i = 0; i < times.length; i++) {
					long time = rs.getLong(++column);
					times[i] = rs.wasNull() ? NEVER : time;
				}
				first.put(name, times);
			}
			return rs.getInt(1) > 0;
		}, parameters.toArray()).get(0);
		List<String> others = names.stream().skip(MAX_NAMES).toList();
		return others.isEmpty() ? anyPaused : firstTimes(session, others, after, othersAfter, first);
	}

	private Round take(Session session, ClaimRequest request, Map<String, Look> looks) {
		long now = session.now();
		long read = System.nanoTime();
		boolean newSuspects = false;
		for (Map.Entry<String, Look> look : looks.entrySet()) {
			newSuspects |= look.getValue().hasEnded() && ClaimedRows.lose(session, look.getKey(), now);
		}
		List<LeasedTask> tasks = ClaimedRows.lease(session, request, lockFirst(session, request, looks, now), now,
				true);
		return new Round(tasks, now + this.database.millisSince(read), 0, newSuspects, false, List.of(), Set.of(),
				Map.of());
	}

	private static List<TaskRow> lockFirst(Session session, ClaimRequest request, Map<String, Look> looks, long now) {
		List<TaskRow> found = new ArrayList<>();
		long until = now + Session.millis(request.lookAhead());
		looks.forEach((name, look) -> {
			int due = share(request, name).due();
			int soon = share(request, name).soon();
			if (look.hasDue() && due + soon > 0) {
				for (TaskRow row : ClaimedRows.lockFirst(session, request, name, "{pending}", now, until, due + soon)) {
					if (((row.foundAt() <= now) ? due-- : soon--) > 0) {
						found.add(row);
					}
				}
			}
		});
		found.sort(Comparator.comparingLong(TaskRow::foundAt));
		return found.subList(0, Math.min(request.limit(), found.size()));
	}

	@Override
	public List<LeasedTask> begin(Session session, ClaimRequest request, String name, int limit, long since) {
		long now = session.now();
		return ClaimedRows.lease(session, request,
				ClaimedRows.lockFirst(session, request, name, "{pending}", now, now, limit), now, true);
	}

}
