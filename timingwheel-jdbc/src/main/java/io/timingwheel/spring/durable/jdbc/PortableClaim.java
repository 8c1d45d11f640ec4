package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.jdbc.ClaimProgress.Look;

/**
 * The claim in SQL that H2, MariaDB and MySQL understand. It first looks, without locks,
 * at the first tasks of each name. It then locks the rows of the names that have tasks to
 * claim, decides, and writes.
 */
final class PortableClaim implements Claiming.Steps {

	/**
	 * The first pending task and the first one behind the look-ahead, the first run and
	 * the first suspect. H2 would parse a union again each time, and MySQL would search
	 * from the beginning if the names were a table.
	 */
	private static final String LOOK = String.join(", ", first("{pending}", "> -1"), first("{pending}", "> ?"),
			first("{running}", "> -1"), first("{suspect}", "> -1"));

	private static final String LOOKS = "select (select count(*) from {name} where paused = 1), ";

	/** A row of MySQL has at most 4096 columns. */
	private static final int MAX_NAMES = 1000;

	private final Database database;

	PortableClaim(Database database) {
		this.database = database;
	}

	private static String first(String queue, String condition) {
		return ClaimProgress.FIRST.formatted("?", queue, condition);
	}

	@Override
	public void claim(ClaimProgress progress, int limit, boolean suspect) {
		List<String> names = this.database.node().single((session) -> look(session, progress, suspect));
		if (progress.suspects.isEmpty() && !names.isEmpty()) {
			progress.add(this.database.node().transaction((session) -> take(session, progress, names, limit)), limit);
		}
	}

	private static List<String> look(Session session, ClaimProgress progress, boolean suspect) {
		progress.time(session.now());
		progress.nextAt = ClaimProgress.NEVER;
		progress.looks.clear();
		Map<String, Long> suspects = new HashMap<>();
		firstTimes(session, progress).forEach((name, first) -> {
			long now = progress.now();
			long nextSuspect = first[3];
			progress.looks.put(name, new Look(until(first[0], ahead(progress, name)), until(first[2], now), first[1]));
			if (!progress.isLimited(name)) {
				long nextEnd = Math.min(later(first[2], now), later(nextSuspect, now));
				progress.nextAt = Math.min(progress.nextAt, Math.min(first[1], nextEnd));
			}
			if (suspect && nextSuspect <= now) {
				suspects.put(name, nextSuspect);
			}
		});
		progress.suspects = suspects.keySet().stream().sorted(Comparator.comparing(suspects::get)).toList();
		return progress.looks.keySet()
			.stream()
			.filter((name) -> !progress.isLimited(name) && progress.look(name).hasWork())
			.toList();
	}

	private static long ahead(ClaimProgress progress, String name) {
		return progress.now() + (progress.isLimited(name) ? 0 : Session.millis(progress.request.lookAhead()));
	}

	private static long until(long time, long last) {
		return (time <= last) ? time : ClaimProgress.NEVER;
	}

	private static long later(long time, long now) {
		return (time > now) ? time : ClaimProgress.NEVER;
	}

	/** The times of the names that are not paused. */
	private static Map<String, long[]> firstTimes(Session session, ClaimProgress progress) {
		List<String> names = List.copyOf(progress.request.names().keySet());
		Map<String, long[]> first = new HashMap<>();
		boolean paused = names.isEmpty();
		for (int from = 0; from < names.size(); from += MAX_NAMES) {
			List<String> some = names.subList(from, Math.min(names.size(), from + MAX_NAMES));
			List<Object> parameters = new ArrayList<>();
			for (String name : some) {
				Object text = session.dialect().text(name);
				parameters.addAll(List.of(text, text, ahead(progress, name), text, text));
			}
			paused |= session.query(LOOKS + String.join(", ", Collections.nCopies(some.size(), LOOK)), (rs, rowNum) -> {
				for (int i = 0; i < some.size(); i++) {
					int column = 2 + 4 * i;
					first.put(some.get(i), new long[] { time(rs, column), time(rs, column + 1), time(rs, column + 2),
							time(rs, column + 3) });
				}
				return rs.getLong(1) > 0;
			}, parameters.toArray()).get(0);
		}
		progress.pausedNames = paused ? TaskNames.paused(session) : Set.of();
		first.keySet().removeAll(progress.pausedNames);
		return first;
	}

	private static long time(ResultSet rs, int column) throws SQLException {
		long time = rs.getLong(column);
		return rs.wasNull() ? ClaimProgress.NEVER : time;
	}

	private static List<TaskRow> take(Session session, ClaimProgress progress, List<String> names, int limit) {
		progress.time(session.now());
		List<TaskRow> found = new ArrayList<>();
		for (String name : names) {
			if (progress.look(name).endedAt() != ClaimProgress.NEVER) {
				progress.lose(session, name);
			}
			if (progress.look(name).dueAt() != ClaimProgress.NEVER) {
				found.addAll(lockFirst(session, progress, name, limit));
			}
		}
		found.sort(Comparator.comparingLong(TaskRow::foundAt));
		return progress.lease(session, found.subList(0, Math.min(limit, found.size())), true);
	}

	private static List<TaskRow> lockFirst(Session session, ClaimProgress progress, String name, int limit) {
		int due = Math.min(limit, progress.share(name).due());
		int soon = Math.min(limit, progress.share(name).soon());
		List<TaskRow> found = new ArrayList<>();
		if (due + soon > 0) {
			for (TaskRow row : progress.lockFirst(session, name, "{pending}", ahead(progress, name), due + soon)) {
				if (((row.foundAt() <= progress.now()) ? due-- : soon--) > 0) {
					found.add(row);
				}
			}
		}
		return found;
	}

	@Override
	public List<TaskRow> begin(Session session, ClaimProgress progress, String name, int limit) {
		return progress.lease(session, progress.lockFirst(session, name, "{pending}", progress.now(), limit), true);
	}

}
