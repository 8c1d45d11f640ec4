package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.jdbc.Claim.Look;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * The claim in SQL that H2, MariaDB and MySQL understand. It first looks, without locks,
 * at the first tasks of each name. It then locks the rows of the names that have tasks to
 * claim, decides, and writes.
 */
final class PortableClaims implements Claims.Steps {

	private static final String FIRST = ", (select next_at from {task} where name = ? and queue = %s and next_at > ?"
			+ " order by name, queue, next_at limit 1)";

	/**
	 * H2 would parse a union again each time, and MySQL would search from the beginning
	 * if the names were a table.
	 */
	private static final String LOOK = FIRST.formatted("{pending}") + FIRST.formatted("{running}")
			+ FIRST.formatted("{suspect}");

	private static final String ANY_PAUSED = "select (select count(*) from {name} where paused = 1)";

	/** A row of MySQL has at most 4096 columns. */
	private static final int MAX_NAMES = 1000;

	private final Database database;

	PortableClaims(Database database) {
		this.database = database;
	}

	@Override
	public void claim(Claim claim, int limit, boolean suspect) {
		Map<String, Look> looks = this.database.node().single((session) -> look(session, claim, suspect));
		if (claim.suspects.isEmpty() && looks.values().stream().anyMatch(Look::hasWork)) {
			claim.add(this.database.node().transaction((session) -> take(session, claim, looks, limit)), limit, false);
		}
	}

	/**
	 * Looks at each name, and again behind the tasks that a claim may take.
	 * @return the first tasks of the names without limits; they are due if they are due
	 * within the look-ahead
	 */
	private static Map<String, Look> look(Session session, Claim claim, boolean suspect) {
		long now = readTime(session, claim);
		ToLongFunction<String> ahead = (name) -> claim.isLimited(name) ? now
				: now + Session.millis(claim.request.lookAhead());
		Map<String, long[]> first = firstTimes(session, List.copyOf(claim.request.names().keySet()),
				(name) -> -DelayedTaskStore.MAX_TIME, -DelayedTaskStore.MAX_TIME);
		boolean anyPaused = first.isEmpty() || first.values().stream().anyMatch((times) -> times[3] > 0);
		claim.pausedNames = anyPaused ? TaskNames.paused(session) : Set.of();
		first.keySet().removeAll(claim.pausedNames);
		List<String> found = first.keySet().stream().filter((name) -> {
			long[] times = first.getOrDefault(name, new long[3]);
			return times[0] <= ahead.applyAsLong(name) || times[1] <= now || times[2] <= now;
		}).toList();
		Map<String, long[]> later = firstTimes(session, found, ahead, now);
		Map<String, Look> looks = new HashMap<>();
		Map<String, Long> suspects = new HashMap<>();
		claim.looks = new HashMap<>();
		claim.nextAt = Claim.NEVER;
		first.forEach((name, times) -> {
			long[] next = later.getOrDefault(name, times);
			Look look = new Look(until(times[0], ahead.applyAsLong(name)), until(times[1], now), next[0]);
			if (claim.isLimited(name)) {
				claim.looks.put(name, look);
			}
			else {
				looks.put(name, look);
				claim.nextAt = LongStream.of(claim.nextAt, next[0], next[1], next[2]).min().getAsLong();
			}
			if (suspect && times[2] <= now) {
				suspects.put(name, times[2]);
			}
		});
		claim.suspects = suspects.keySet().stream().sorted(Comparator.comparing(suspects::get)).toList();
		return looks;
	}

	private static long readTime(Session session, Claim claim) {
		claim.now = session.now();
		claim.arrived = System.nanoTime();
		return claim.now;
	}

	private static long until(long time, long last) {
		return (time <= last) ? time : Claim.NEVER;
	}

	/**
	 * Finds the first times of names: of their pending tasks, their runs and their
	 * suspects. The fourth number says whether names are paused.
	 * @param pendingAfter after which time to search the pending tasks
	 * @param othersAfter after which time to search the others
	 */
	private static Map<String, long[]> firstTimes(Session session, List<String> names,
			ToLongFunction<String> pendingAfter, long othersAfter) {
		Map<String, long[]> first = new HashMap<>();
		for (int from = 0; from < names.size(); from += MAX_NAMES) {
			List<String> some = names.subList(from, Math.min(names.size(), from + MAX_NAMES));
			List<Object> parameters = new ArrayList<>();
			for (String name : some) {
				Object text = session.dialect().text(name);
				parameters.addAll(List.of(text, pendingAfter.applyAsLong(name), text, othersAfter, text, othersAfter));
			}
			session.query(ANY_PAUSED + String.join("", Collections.nCopies(some.size(), LOOK)), (rs, rowNum) -> {
				int column = 1;
				for (String name : some) {
					long[] times = { 0, 0, 0, rs.getLong(1) };
					for (int i = 0; i < 3; i++) {
						long time = rs.getLong(++column);
						times[i] = rs.wasNull() ? Claim.NEVER : time;
					}
					first.put(name, times);
				}
				return first;
			}, parameters.toArray());
		}
		return first;
	}

	private static List<LeasedTask> take(Session session, Claim claim, Map<String, Look> looks, int limit) {
		long now = readTime(session, claim);
		List<TaskRow> found = new ArrayList<>();
		looks.forEach((name, look) -> {
			if (look.endedAt() != Claim.NEVER) {
				claim.newSuspects |= Claim.lose(session, name, now);
			}
			if (look.dueAt() != Claim.NEVER) {
				found.addAll(lockFirst(session, claim, name, now, limit));
			}
		});
		found.sort(Comparator.comparingLong(TaskRow::foundAt));
		return claim.lease(session, found.subList(0, Math.min(limit, found.size())), now, true);
	}

	private static List<TaskRow> lockFirst(Session session, Claim claim, String name, long now, int limit) {
		int due = Math.min(limit, claim.share(name).due());
		int soon = Math.min(limit, claim.share(name).soon());
		long until = now + Session.millis(claim.request.lookAhead());
		List<TaskRow> found = new ArrayList<>();
		for (TaskRow row : (due + soon > 0) ? claim.lockFirst(session, name, "{pending}", now, until, due + soon)
				: List.<TaskRow>of()) {
			if (((row.foundAt() <= now) ? due-- : soon--) > 0) {
				found.add(row);
			}
		}
		return found;
	}

	@Override
	public List<LeasedTask> begin(Session session, Claim claim, String name, int limit) {
		long now = session.now();
		return claim.lease(session, claim.lockFirst(session, name, "{pending}", now, now, limit), now, true);
	}

}
