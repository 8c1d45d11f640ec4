package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.jdbc.ClaimRound.Look;
import io.timingwheel.spring.durable.jdbc.ClaimedRows.Found;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * The claim in SQL that H2, MariaDB and MySQL understand. It first looks, without locks,
 * at the first tasks of each name. It then locks the rows of the names that have tasks to
 * claim, decides, and writes.
 */
final class PortableClaims implements ClaimSteps {

	private static final String FIRST = "(select next_at from {task} where name = ? and queue = %s"
			+ " and next_at %s %s order by name, queue, next_at limit 1)";

	private final Database database;

	private final TaskNames names;

	private final ClaimedRows rows;

	private final boolean searchesEach;

	/** The statements by the number of their names. */
	private final Map<Integer, String> searches = new ConcurrentHashMap<>();

	PortableClaims(Database database) {
		this.database = database;
		this.names = new TaskNames(database);
		this.rows = new ClaimedRows(database);
		this.searchesEach = database.dialect() instanceof H2Dialect;
	}

	@Override
	public ClaimRound claim(ClaimRequest request, Map<String, Long> since) {
		Looked looked = this.database.node().single((jdbc) -> look(jdbc, request));
		Map<String, Look> looks = new HashMap<>(looked.looks());
		looks.keySet().removeIf((name) -> share(request, name).limits() != null);
		Taken taken = looks.values().stream().allMatch((look) -> isIdle(look, request.suspect()))
				? new Taken(List.of(), looked.now(), false)
				: this.database.node().transaction((jdbc) -> take(jdbc, request, looks));
		long nextAt = looks.values().stream().mapToLong(Look::laterAt).min().orElse(Long.MAX_VALUE);
		looked.looks().keySet().removeAll(looks.keySet());
		return new ClaimRound(taken.tasks(), taken.now(), nextAt, taken.newSuspects(), false, looked.paused(),
				looked.looks());
	}

	private Looked look(JdbcOperations jdbc, ClaimRequest request) {
		long now = this.database.now(jdbc);
		Set<String> paused = this.names.paused(jdbc);
		List<String> active = request.names().keySet().stream().filter((name) -> !paused.contains(name)).toList();
		return new Looked(now, paused, look(jdbc, request, active, now));
	}

	private static Share share(ClaimRequest request, String name) {
		return Objects.requireNonNull(request.names().get(name));
	}

	private static boolean isIdle(Look look, boolean suspect) {
		return look.dueAt() == Long.MAX_VALUE && look.endedAt() == Long.MAX_VALUE
				&& !(suspect && look.suspectAt() != Long.MAX_VALUE);
	}

	/**
	 * The first times of each name. The due times include the look-ahead of the names
	 * without limits. The searches of all names are one request. H2 would parse this long
	 * statement each time, so it gets a statement for each name.
	 */
	private Map<String, Look> look(JdbcOperations jdbc, ClaimRequest request, List<String> names, long now) {
		Map<String, Look> looks = new HashMap<>();
		int size = this.searchesEach ? 1 : Math.max(1, names.size());
		for (int from = 0; from < names.size(); from += size) {
			look(jdbc, request, names.subList(from, from + size), now, looks);
		}
		return looks;
	}

	private void look(JdbcOperations jdbc, ClaimRequest request, List<String> names, long now,
			Map<String, Look> looks) {
		List<Object> parameters = new ArrayList<>();
		for (String name : names) {
			Object text = this.database.dialect().text(name);
			long ahead = (share(request, name).limits() != null) ? now
					: DueTime.after(request.lookAhead()).resolve(now);
			parameters.addAll(List.of(text, ahead, now, text, now, text, now, text, ahead, text, now, text, now));
		}
		jdbc.query(this.searches.computeIfAbsent(names.size(), this::searches), (rs) -> {
			String name = names.get(rs.getInt("number"));
			long[] times = new long[6];
			for (int i = 0; i < times.length; i++) {
				Long time = rs.getObject(i + 2, Long.class);
				times[i] = (time != null) ? time : Long.MAX_VALUE;
			}
			long laterAt = (share(request, name).limits() != null) ? times[3]
					: Math.min(times[3], Math.min(times[4], times[5]));
			looks.put(name, new Look(times[0], times[1], times[2], laterAt));
		}, parameters.toArray());
	}

	/**
	 * A statement with the searches of so many names. The times are parameters, so that
	 * the database and the driver can keep the statement.
	 */
	private String searches(int names) {
		String select = "select %d as number, "
				+ FIRST.formatted("{pending}", "<= ?", "and (owner is null or next_at <= ?)") + " as due_at, "
				+ FIRST.formatted("{suspect}", "<= ?", "") + " as suspect_at, "
				+ FIRST.formatted("{running}", "<= ?", "") + " as ended_at, " + FIRST.formatted("{pending}", "> ?", "")
				+ " as later_at, " + FIRST.formatted("{running}", "> ?", "") + " as lease_at, "
				+ FIRST.formatted("{suspect}", "> ?", "") + " as suspect_lease_at";
		return this.database
			.sql(IntStream.range(0, names).mapToObj(select::formatted).collect(Collectors.joining(" union all ")));
	}

	private Taken take(JdbcOperations jdbc, ClaimRequest request, Map<String, Look> looks) {
		long now = this.database.now(jdbc);
		long read = System.nanoTime();
		boolean newSuspects = false;
		for (Map.Entry<String, Look> look : looks.entrySet()) {
			newSuspects |= look.getValue().endedAt() != Long.MAX_VALUE && this.rows.lose(jdbc, look.getKey(), now);
		}
		List<Found> found = request.suspect() ? lockSuspect(jdbc, request, looks, now) : List.of();
		if (found.isEmpty()) {
			found = lockOthers(jdbc, request, looks, now);
		}
		List<LeasedTask> tasks = this.rows.lease(jdbc, request, found, now, true);
		return new Taken(tasks, now + this.database.millisSince(read), newSuspects);
	}

	private List<Found> lockSuspect(JdbcOperations jdbc, ClaimRequest request, Map<String, Look> looks, long now) {
		return looks.entrySet()
			.stream()
			.filter((look) -> look.getValue().suspectAt() != Long.MAX_VALUE)
			.sorted(Comparator.comparingLong((look) -> look.getValue().suspectAt()))
			.map((look) -> this.rows.lockFirst(jdbc, request, look.getKey(), "{suspect}", now, now, 1))
			.filter((suspect) -> !suspect.isEmpty())
			.findFirst()
			.orElse(List.of());
	}

	private List<Found> lockOthers(JdbcOperations jdbc, ClaimRequest request, Map<String, Look> looks, long now) {
		List<Found> found = new ArrayList<>();
		long until = DueTime.after(request.lookAhead()).resolve(now);
		looks.forEach((name, look) -> {
			Share share = share(request, name);
			int due = share.due();
			int soon = share.soon();
			if (look.dueAt() != Long.MAX_VALUE && due + soon > 0) {
				for (Found task : this.rows.lockFirst(jdbc, request, name, "{pending}", now, until, due + soon)) {
					if (((task.foundAt() <= now) ? due-- : soon--) > 0) {
						found.add(task);
					}
				}
			}
		});
		found.sort(Comparator.comparingLong(Found::foundAt));
		return found.subList(0, Math.min(request.limit(), found.size()));
	}

	@Override
	public List<LeasedTask> begin(JdbcOperations jdbc, ClaimRequest request, String name, int limit, long since) {
		long now = this.database.now(jdbc);
		return this.rows.lease(jdbc, request, this.rows.lockFirst(jdbc, request, name, "{pending}", now, now, limit),
				now, true);
	}

	/**
	 * What a claim has seen without locks.
	 */
	private record Looked(long now, Set<String> paused, Map<String, Look> looks) {

	}

	/**
	 * What a claim has taken.
	 */
	private record Taken(List<LeasedTask> tasks, long now, boolean newSuspects) {

	}

}
