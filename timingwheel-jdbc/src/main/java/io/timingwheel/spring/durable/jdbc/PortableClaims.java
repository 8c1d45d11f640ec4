package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * The claim in SQL that H2, MariaDB and MySQL understand. It first looks, without locks,
 * at the first tasks of each name. It then locks the rows of the names that have tasks to
 * claim, decides, and writes.
 */
final class PortableClaims implements ClaimSteps {

	private static final String FIRST = "(select next_at from {task} where name = ? and queue = %s"
			+ " and next_at %s %s order by name, queue, next_at limit 1)";

	private static final String LOOK = "select %d as number, "
			+ FIRST.formatted("{pending}", "<= ?", "and (owner is null or next_at <= ?)") + " as due_at, "
			+ FIRST.formatted("{suspect}", "<= ?", "") + " as suspect_at, " + FIRST.formatted("{running}", "<= ?", "")
			+ " as ended_at, " + FIRST.formatted("{pending}", "> ?", "") + " as later_at, "
			+ FIRST.formatted("{running}", "> ?", "") + " as lease_at, " + FIRST.formatted("{suspect}", "> ?", "")
			+ " as suspect_lease_at";

	private final Database database;

	private final TaskNames names;

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
		long nextAt = looks.values().stream().mapToLong(Look::laterAt).min().orElse(Long.MAX_VALUE);
		return new Round(taken.tasks(), taken.now(), nextAt, taken.newSuspects(), false, suspects, seen.pausedNames(),
				seen.looks());
	}

	private static Share share(ClaimRequest request, String name) {
		return Objects.requireNonNull(request.names().get(name));
	}

	/**
	 * The first times of each name that is not paused. The searches of all names are one
	 * request. H2 would parse this long statement each time, so it gets a statement for
	 * each name.
	 */
	private Round look(Session session, ClaimRequest request) {
		long now = session.now();
		Set<String> paused = this.names.paused(session);
		List<String> active = request.names().keySet().stream().filter((name) -> !paused.contains(name)).toList();
		Map<String, Look> looks = new HashMap<>();
		Map<String, Long> suspects = new HashMap<>();
		int size = (session.dialect() instanceof H2Dialect) ? 1 : Math.max(1, active.size());
		for (int from = 0; from < active.size(); from += size) {
			look(session, request, active.subList(from, from + size), now, looks, suspects);
		}
		List<String> earliest = suspects.keySet().stream().sorted(Comparator.comparing(suspects::get)).toList();
		return new Round(List.of(), now, Long.MAX_VALUE, false, false, earliest, paused, looks);
	}

	/**
	 * The due times include the look-ahead of the names without limits. The times are
	 * parameters, so that the database and the driver can keep the statement.
	 */
	private static void look(Session session, ClaimRequest request, List<String> names, long now,
			Map<String, Look> looks, Map<String, Long> suspects) {
		List<Object> parameters = new ArrayList<>();
		for (String name : names) {
			Object text = session.dialect().text(name);
			long ahead = (share(request, name).limits() != null) ? now : now + Session.millis(request.lookAhead());
			parameters.addAll(List.of(text, ahead, now, text, now, text, now, text, ahead, text, now, text, now));
		}
		String statement = IntStream.range(0, names.size())
			.mapToObj(LOOK::formatted)
			.collect(Collectors.joining(" union all "));
		session.query(statement, (rs, rowNum) -> {
			String name = names.get(rs.getInt(1));
			long[] times = new long[6];
			for (int i = 0; i < times.length; i++) {
				Long time = rs.getObject(i + 2, Long.class);
				times[i] = (time != null) ? time : Long.MAX_VALUE;
			}
			long laterAt = (share(request, name).limits() != null) ? times[3]
					: Math.min(times[3], Math.min(times[4], times[5]));
			if (times[1] != Long.MAX_VALUE) {
				suspects.put(name, times[1]);
			}
			looks.put(name, new Look(times[0], times[2], laterAt));
			return name;
		}, parameters.toArray());
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
