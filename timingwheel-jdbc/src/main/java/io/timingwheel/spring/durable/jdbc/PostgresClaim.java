package io.timingwheel.spring.durable.jdbc;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.durable.jdbc.ClaimProgress.Look;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;

/**
 * The claim on PostgreSQL: one statement, which reads each index once for each name, and
 * no tasks of other names. The subqueries around the parameters hide their values from
 * the planner, which would otherwise plan each claim anew. The rows are updated by a list
 * of their places in the table ({@code ctid}), which takes fewer reads than a second
 * search by id, and fewer system calls than a join. A row that has changed meanwhile has
 * another place, and is left to the next claim.
 *
 * <p>
 * PostgreSQL keeps the index entries of tasks that have ended as long as any transaction
 * may see them. So the store remembers up to which time a name has been searched, its
 * floor. Tasks may still appear before it, when an application commits late. About once a
 * second a claim therefore sweeps: it begins with the first entries, and also looks for
 * runs whose leases have ended.
 */
final class PostgresClaim extends Claiming {

	/**
	 * Looks at the names that are not paused. A statement that claims tasks of a name
	 * need not know the first one. Only a sweep looks for runs and suspects, since the
	 * entries of those that have ended come first, or a node that wants a suspect.
	 */
	private static final String LOOKS = """
			with clock as (select {now} as now, ?::bigint as ahead),
			paused as (select name from {name} where paused = 1),
			given as (
				select g.* from unnest((select ?::text[]), (select ?::int[]), (select ?::int[]), (select ?::bigint[]),
					(select ?::boolean[])) with ordinality as g (name, due, soon, since, limited, number)
				where g.name not in (select name from paused)
			),
			wishes as (select ?::boolean as suspect),
			looks as (
				select n.number, %s as due_at, %s as later_at, %s as end_at, %s as suspect_at
				from given n, clock, wishes
			),
			""".formatted(ClaimProgress.first("n.name", "{pending}", ">= n.since and n.limited"),
			ClaimProgress.first("n.name", "{pending}", "> clock.now + case when n.limited then 0 else clock.ahead end"),
			ClaimProgress.first("n.name", "{running}", "> -1 and n.since < 0"),
			ClaimProgress.first("n.name", "{suspect}", "> -1 and (n.since < 0 or wishes.suspect)"));

	/** The first tasks of each name up to its shares, and of these the first ones. */
	private static final String CHOSEN = """
			found as (
				select first.*, w.name, w.due, w.soon, first.next_at <= clock.now as is_due
				from given w, clock, lateral (
					select ctid as place, next_at from {task}
					where name = w.name and queue = {pending} and next_at >= w.since
						and next_at <= clock.now + clock.ahead and (owner is null or next_at <= clock.now)
					order by next_at limit w.due + w.soon for update skip locked) first
				where not w.limited and not exists (
					select 1 from looks, clock, wishes where wishes.suspect and looks.suspect_at <= clock.now)
			),
			ranked as (
				select place, next_at, case when is_due then due else soon end as share,
					row_number() over (partition by name, is_due order by next_at) as rank
				from found
			),
			chosen as (
				select place from ranked where rank <= share order by next_at limit (select ?::int)
			),
			""";

	private static final String CLAIMED = """
			claimed as (
				update {task} t set
					owner = ?,
					fence = greatest(t.fence + 1, clock.now * 1000),
					next_at = least(greatest(t.due_at, clock.now) + ?, {max}),
					deliveries = t.deliveries + case when {begins} then 1 else 0 end,
					held_key = case when {begins} and t.schedule is null then null else t.held_key end,
					first_at = case when {begins} then null else t.first_at end,
					status = case when {begins} then {running} else {pending} end
				from clock where t.ctid = any(array(select place from chosen))
				returning t.*
			),
			""".replace("{begins}", "t.due_at <= clock.now");

	/** One row has what concerns the whole claim, with the time at its end. */
	private static final String RESULT = """
			claim as (
				select now as looked_at, pg_relation_size('{task}') as size,
					(select coalesce(?, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
						from (select count(*) from claimed) changed) as claimed_at,
					(select count(*) from chosen) > (select count(*) from claimed) as has_left,
					array(select name from paused) as paused,
					(select array_agg(array[number, due_at, later_at, end_at, suspect_at]) from looks
						where least(due_at, later_at, end_at, suspect_at) < %s) as looks
				from clock
			)
			select %s, claim.* from claim full join claimed on false""".formatted(ClaimProgress.NEVER,
			TaskRow.CLAIM_COLUMNS);

	private static final String CLAIM = LOOKS + CHOSEN + CLAIMED + RESULT;

	private static final long SWEEP = -DelayedTaskStore.MAX_TIME;

	private static final long SWEEP_PAUSE = Duration.ofSeconds(1).toNanos();

	/** How far a floor stays behind the time, for transactions that commit late. */
	private static final long LATE_COMMIT_MILLIS = 1000;

	private final Map<String, Long> floors = new ConcurrentHashMap<>();

	private volatile long sweepAt = System.nanoTime();

	PostgresClaim(Database database) {
		super(database);
	}

	@Override
	void claimUnlimited(ClaimProgress progress, int limit, boolean suspect) {
		boolean sweeps = System.nanoTime() - this.sweepAt >= 0;
		if (sweeps) {
			this.sweepAt = System.nanoTime() + SWEEP_PAUSE;
		}
		List<TaskRow> tasks = this.database.node()
			.single((session) -> claim(session, progress, limit, suspect, sweeps));
		progress.add(tasks, limit);
		if (!suspect || progress.suspects().isEmpty()) {
			raiseFloors(progress, tasks, limit);
		}
	}

	@Override
	List<TaskRow> begin(Session session, ClaimProgress progress, String name, long now, int limit) {
		ClaimRequest request = progress.request;
		ClaimProgress part = new ClaimProgress(new ClaimRequest(request.owner(), Map.of(name, new Share(limit, 0)),
				limit, false, Duration.ZERO, request.lease(), request.maxPayloadBytes()));
		return claim(session, part, limit, false, false);
	}

	private List<TaskRow> claim(Session session, ClaimProgress progress, int limit, boolean suspect, boolean sweeps) {
		ClaimRequest request = progress.request;
		// The clock of a test may stand still.
		Long given = this.database.givenTime();
		boolean all = sweeps || given != null;
		List<String> names = List.copyOf(request.names().keySet());
		List<Share> shares = names.stream().map(progress::share).toList();
		List<TaskRow> tasks = new ArrayList<>();
		session.forEach(CLAIM, (rs) -> {
			if (rs.getString(1) != null) {
				tasks.add(TaskRow.read(rs, session.dialect()));
			}
			else {
				read(rs, progress, names);
				this.database.setSize(rs.getLong("size"));
			}
		}, given, Session.millis(request.lookAhead()), names.toArray(String[]::new),
				shares.stream().map((share) -> Math.min(limit, share.due())).toArray(Integer[]::new),
				shares.stream().map((share) -> Math.min(limit, share.soon())).toArray(Integer[]::new),
				names.stream().map((name) -> all ? SWEEP : this.floors.getOrDefault(name, SWEEP)).toArray(Long[]::new),
				shares.stream().map((share) -> share.limits() != null).toArray(Boolean[]::new), suspect, limit,
				request.owner(), Session.millis(request.lease()), given, request.maxPayloadBytes());
		return tasks;
	}

	private static void read(ResultSet rs, ClaimProgress progress, List<String> names) throws SQLException {
		progress.now = rs.getLong("claimed_at");
		progress.lookedAt = rs.getLong("looked_at");
		progress.more |= rs.getBoolean("has_left");
		progress.pausedNames = Set.of((String[]) rs.getArray("paused").getArray());
		names.forEach((name) -> progress.looks.put(name, Look.NONE));
		progress.looks.keySet().removeAll(progress.pausedNames);
		Array looks = rs.getArray("looks");
		if (looks != null) {
			for (Long[] look : (Long[][]) looks.getArray()) {
				progress.looks.put(names.get(look[0].intValue() - 1), new Look(look[1], look[2], look[3], look[4]));
			}
		}
	}

	/**
	 * Learns how far the names have been searched: up to their last task, or if the claim
	 * took all tasks, up to now.
	 */
	private void raiseFloors(ClaimProgress progress, List<TaskRow> tasks, int limit) {
		Map<String, Long> until = new HashMap<>();
		tasks.stream().filter(TaskRow::isRunning).forEach((task) -> until.merge(task.name, task.dueAt, Math::max));
		progress.looks.forEach((name, look) -> {
			if (progress.isLimited(name)) {
				until.put(name, look.dueAt());
			}
			else if (tasks.size() < limit && progress.share(name).due() > 0) {
				until.putIfAbsent(name, ClaimProgress.NEVER);
			}
		});
		until.forEach((name, time) -> this.floors.put(name, Math.min(time, progress.now - LATE_COMMIT_MILLIS)));
	}

}
