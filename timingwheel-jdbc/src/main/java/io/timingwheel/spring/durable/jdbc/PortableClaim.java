package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.jdbc.ClaimProgress.Look;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * The claim in SQL that H2, MariaDB and MySQL understand. It first looks, without locks,
 * at the first tasks of each name. It then locks the rows of the names that have tasks to
 * claim, decides, and writes.
 */
final class PortableClaim implements Claiming.Steps {

	private static final String FIRST = "(select next_at from {task} where name = ? and queue = %s and next_at > ?"
			+ " order by name, queue, next_at limit 1)";

	/**
	 * The first pending task and the first one behind the look-ahead, the first run and
	 * the first suspect. H2 would parse a union again each time, and MySQL would search
	 * from the beginning if the names were a table.
	 */
	private static final List<String> LOOK = List.of(FIRST.formatted("{pending}"), FIRST.formatted("{pending}"),
			FIRST.formatted("{running}"), FIRST.formatted("{suspect}"));

	private static final String ANY_PAUSED = "select (select count(*) from {name} where paused = 1), ";

	/** A row of MySQL has at most 4096 columns. */
	private static final int MAX_NAMES = 1000;

	private final Database database;

	PortableClaim(Database database) {
		this.database = database;
	}

	@Override
	public void claim(ClaimProgress progress, int limit, boolean suspect) {
		Map<String, Look> looks = this.database.node().single((session) -> look(session, progress, suspect));
		if (progress.suspects.isEmpty() && looks.values().stream().anyMatch(Look::hasWork)) {
			progress.add(this.database.node().transaction((session) -> take(session, progress, looks, limit)), limit);
		}
	}

	/**
	 * Looks at the names.
	 * @return the first tasks of the names without limits; they are due if they are due
	 * within the look-ahead
	 */
	private static Map<String, Look> look(Session session, ClaimProgress progress, boolean suspect) {
		progress.time(session.now());
		long now = progress.now;
		Map<String, long[]> first = firstTimes(session, progress);
		boolean anyPaused = first.isEmpty() || first.values().stream().anyMatch((times) -> times[LOOK.size()] > 0);
		progress.pausedNames = anyPaused ? TaskNames.paused(session) : Set.of();
		first.keySet().removeAll(progress.pausedNames);
		progress.looks = new HashMap<>();
		progress.nextAt = ClaimProgress.NEVER;
		Map<String, Look> others = new HashMap<>();
		Map<String, Long> suspects = new HashMap<>();
		first.forEach((name, times) -> {
			Look look = new Look(until(times[0], ahead(progress, name)), until(times[2], now), times[1]);
			(progress.isLimited(name) ? progress.looks : others).put(name, look);
			if (!progress.isLimited(name)) {
				progress.nextAt = LongStream.of(progress.nextAt, times[1], times[2], times[3])
					.filter((time) -> time > now)
					.min()
					.orElse(ClaimProgress.NEVER);
			}
			if (suspect && times[3] <= now) {
				suspects.put(name, times[3]);
			}
		});
		progress.suspects = suspects.keySet().stream().sorted(Comparator.comparing(suspects::get)).toList();
		return others;
	}

	private static long ahead(ClaimProgress progress, String name) {
		return progress.now + (progress.isLimited(name) ? 0 : Session.millis(progress.request.lookAhead()));
	}

	private static long until(long time, long last) {
		return (time <= last) ? time : ClaimProgress.NEVER;
	}

	private static Map<String, long[]> firstTimes(Session session, ClaimProgress progress) {
		List<String> names = List.copyOf(progress.request.names().keySet());
		Map<String, long[]> first = new HashMap<>();
		for (int from = 0; from < names.size(); from += MAX_NAMES) {
			List<String> some = names.subList(from, Math.min(names.size(), from + MAX_NAMES));
			List<Object> parameters = new ArrayList<>();
			for (String name : some) {
				Object text = session.dialect().text(name);
				parameters.addAll(List.of(text, Long.MIN_VALUE, text, ahead(progress, name), text, Long.MIN_VALUE, text,
						Long.MIN_VALUE));
			}
			String looks = String.join(", ", Collections.nCopies(some.size(), String.join(", ", LOOK)));
			session.query(ANY_PAUSED + looks, (rs, rowNum) -> {
				int column = 2;
				for (String name : some) {
					long[] times = new long[LOOK.size() + 1];
					times[LOOK.size()] = rs.getLong(1);
					for (int i = 0; i < LOOK.size(); i++) {
						long time = rs.getLong(column++);
						times[i] = rs.wasNull() ? ClaimProgress.NEVER : time;
					}
					first.put(name, times);
				}
				return first;
			}, parameters.toArray());
		}
		return first;
	}

	private static List<LeasedTask> take(Session session, ClaimProgress progress, Map<String, Look> looks, int limit) {
		progress.time(session.now());
		List<TaskRow> found = new ArrayList<>();
		looks.forEach((name, look) -> {
			if (look.endedAt() != ClaimProgress.NEVER) {
				progress.lose(session, name);
			}
			if (look.dueAt() != ClaimProgress.NEVER) {
				found.addAll(lockFirst(session, progress, name, limit));
			}
		});
		found.sort(Comparator.comparingLong(TaskRow::foundAt));
		return progress.lease(session, found.subList(0, Math.min(limit, found.size())), true);
	}

	private static List<TaskRow> lockFirst(Session session, ClaimProgress progress, String name, int limit) {
		int due = Math.min(limit, progress.share(name).due());
		int soon = Math.min(limit, progress.share(name).soon());
		List<TaskRow> found = new ArrayList<>();
		for (TaskRow row : (due + soon > 0)
				? progress.lockFirst(session, name, "{pending}", ahead(progress, name), due + soon)
				: List.<TaskRow>of()) {
			if (((row.foundAt() <= progress.now) ? due-- : soon--) > 0) {
				found.add(row);
			}
		}
		return found;
	}

	@Override
	public List<LeasedTask> begin(Session session, ClaimProgress progress, String name, int limit) {
		return progress.lease(session, progress.lockFirst(session, name, "{pending}", progress.now, limit), true);
	}

}
