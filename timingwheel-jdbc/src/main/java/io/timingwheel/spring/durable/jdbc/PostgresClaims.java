package io.timingwheel.spring.durable.jdbc;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StoredSchedule;
import org.jspecify.annotations.Nullable;

/**
 * The claim on PostgreSQL: one statement, which is cheap if there is nothing to claim. It
 * reads each index once for each name, and no tasks of other names.
 *
 * <p>
 * The subqueries around the parameters hide their values from the planner, which would
 * otherwise plan the statement for each claim. The rows are locked and updated by their
 * places in the table ({@code ctid}), which takes fewer reads than a second search by id.
 * A row that has changed since the statement began has another place. The statement
 * leaves such a row to the next claim, and says so.
 */
final class PostgresClaims implements ClaimSteps {

	/** The names that are not paused, with their shares and floors. */
	private static final String WANTED = """
			with clock as (select {now} as now, ?::bigint as ahead),
			paused as (select name from {name} where paused = 1),
			given as (
				select g.* from unnest((select ?::text[]), (select ?::int[]), (select ?::int[]), (select ?::bigint[]),
					(select ?::boolean[])) with ordinality as g (name, due, soon, since, limited, number)
				where g.name not in (select name from paused)
			),
			wanted as (select * from given where not limited),
			""";

	/**
	 * Runs whose leases have ended, which are lost. Suspects that wait, if the node wants
	 * one. If there are none, the first tasks of each name up to its shares, and of these
	 * the first ones up to the limit.
	 */
	private static final String CHOSEN = """
			lost as (
				select first.place from wanted w, clock, lateral (
					select ctid as place from {task}
					where name = w.name and queue = {running} and next_at <= clock.now
					order by next_at limit 100 for update skip locked) first
				where w.since < 0
			),
			suspects as (
				select n.name, (select next_at from {task} where name = n.name and queue = {suspect}
					and next_at <= (select now from clock) order by next_at limit 1) as next_at
				from given n where (select ?::boolean)
			),
			found as (
				select first.*, w.name, w.due, w.soon, first.next_at <= clock.now as is_due
				from wanted w, clock, lateral (
					select ctid as place, next_at from {task}
					where name = w.name and queue = {pending} and next_at >= w.since
						and next_at <= clock.now + clock.ahead and (owner is null or next_at <= clock.now)
					order by next_at limit w.due + w.soon for update skip locked) first
				where not exists (select 1 from suspects where next_at is not null)
			),
			ranked as (
				select place, next_at, case when is_due then due else soon end as share,
					row_number() over (partition by name, is_due order by next_at) as rank
				from found
			),
			chosen as (
				select place from lost
				union all
				(select place from ranked where rank <= share order by next_at limit (select ?::int))
			),
			""";

	private static final String CLAIMED = """
			claimed as (
				update {task} t set
					owner = case when t.queue = {running} then null else ? end,
					fence = greatest(t.fence + 1, clock.now * 1000),
					next_at = case when t.queue = {running} then t.due_at
						else least(greatest(t.due_at, clock.now) + ?, {max}) end,
					lost = t.lost + case when t.queue = {running} then 1 else 0 end,
					deliveries = t.deliveries + case when {begins} then 1 else 0 end,
					held_key = case when {begins} and t.schedule is null then null else t.held_key end,
					first_at = case when {begins} then null else t.first_at end,
					status = case when {begins} then {running} else {pending} end
				from clock, chosen where t.ctid = chosen.place
				returning t.*
			),
			""".replace("{begins}", "t.queue = {pending} and t.due_at <= clock.now");

	/** The first times of the names with limits. */
	private static final String LOOKS = """
			looks as (
				select array_agg(array[l.number,
					coalesce((select next_at from {task} where name = l.name and queue = {pending}
						and next_at between l.since and (select now from clock) order by next_at limit 1), {never}),
					coalesce((select next_at from {task} where l.since < 0 and name = l.name and queue = {running}
						and next_at <= (select now from clock) order by next_at limit 1), {never}),
					coalesce((select next_at from {task} where name = l.name and queue = {pending}
						and next_at > (select now from clock) order by next_at limit 1), {never})]) as looks
				from given l where limited
			)
			""".replace("{never}", String.valueOf(Long.MAX_VALUE));

	/**
	 * The next time of the pending tasks is beyond the look-ahead. The next time of the
	 * others is the end of a lease, which matters to a node that sleeps. Only a sweep
	 * looks for it, since the entries of runs that have ended come before it.
	 */
	private static final String NEXT = """
			(select min(least(
				(select next_at from {task} where name = w.name and queue = {pending}
					and next_at > (select now + ahead from clock) order by next_at limit 1),
				(select next_at from {task} where {idle} and name = w.name
					and queue = {running} and next_at > (select now from clock) order by next_at limit 1),
				(select next_at from {task} where {idle} and name = w.name
					and queue = {suspect} and next_at > (select now from clock) order by next_at limit 1)))
				from wanted w)""".replace("{idle}", "w.since < 0 and not exists (select 1 from claimed)");

	/**
	 * The first row has what concerns the whole claim, the others have a task each. A
	 * node compares the time with its own clock when it has the reply, so the time is
	 * read once more at the end.
	 */
	private static final String RESULT = """
			select null as id, null as owner, null as fence, null as name, null as task_key, null as payload,
				null as traceparent, null as due_at, null as status, null as attempt, null as deliveries,
				null as lost, null as schedule, null as scheduled_at,
				now + (select {elapsed} from (select count(*) from claimed) changed) as now, {next} as next_at,
				(select count(*) from chosen) > (select count(*) from claimed) as has_left,
				(select array_agg(name order by next_at) from suspects where next_at is not null) as suspects,
				(select array_agg(name) from paused) as paused, (select looks from looks) as looks
			from clock
			union all
			select id, owner, fence, name, task_key, case when octet_length(payload) <= ? then payload end, traceparent,
				due_at, status, attempt, deliveries, lost, schedule, scheduled_at, null, null, null, null, null, null
			from claimed""";

	private static final String ELAPSED = """
			(floor(extract(epoch from clock_timestamp()) * 1000)
				- floor(extract(epoch from statement_timestamp()) * 1000))::bigint""";

	private final Database database;

	private final PlannedStatement statement;

	PostgresClaims(Database database) {
		this.database = database;
		String result = RESULT.replace("{next}", NEXT)
			.replace("{elapsed}", database.statements().isTimeGiven() ? "0::bigint" : ELAPSED);
		this.statement = new PlannedStatement(WANTED + CHOSEN + CLAIMED + LOOKS + result);
	}

	@Override
	public Round claim(ClaimRequest request, Map<String, Long> since) {
		return this.database.node().single((session) -> claim(session, request, since));
	}

	@Override
	public List<LeasedTask> begin(Session session, ClaimRequest request, String name, int limit, long since) {
		ClaimRequest one = new ClaimRequest(request.owner(), Map.of(name, new Share(limit, 0)), limit, false,
				Duration.ZERO, request.lease(), request.maxPayloadBytes());
		return claim(session, one, Map.of(name, since)).tasks();
	}

	private Round claim(Session session, ClaimRequest request, Map<String, Long> since) {
		int size = request.names().size();
		String[] names = new String[size];
		Integer[] due = new Integer[size];
		Integer[] soon = new Integer[size];
		Long[] floors = new Long[size];
		Boolean[] limited = new Boolean[size];
		int i = 0;
		for (Map.Entry<String, Share> name : request.names().entrySet()) {
			names[i] = (String) session.dialect().text(name.getKey());
			due[i] = name.getValue().due();
			soon[i] = name.getValue().soon();
			floors[i] = Objects.requireNonNull(since.get(name.getKey()));
			limited[i++] = name.getValue().limits() != null;
		}
		return this.statement.query(session, (rs) -> read(rs, names), session.statements().givenTime(),
				Session.millis(request.lookAhead()), names, due, soon, floors, limited, request.suspect(),
				request.limit(), request.owner(), Session.millis(request.lease()),
				session.dialect().storedBytes(request.maxPayloadBytes()));
	}

	private static Round read(ResultSet rs, String[] names) throws SQLException {
		rs.next();
		long now = rs.getLong("now");
		long nextAt = time(rs.getObject("next_at", Long.class));
		boolean hasLeft = rs.getBoolean("has_left");
		List<String> suspects = texts(rs.getArray("suspects"));
		Set<String> pausedNames = Set.copyOf(texts(rs.getArray("paused")));
		Map<String, Look> looks = looks(rs.getArray("looks"), names);
		List<LeasedTask> tasks = new ArrayList<>();
		boolean newSuspects = false;
		while (rs.next()) {
			if (rs.getString(2) == null) {
				newSuspects = true;
			}
			else {
				tasks.add(task(rs));
			}
		}
		return new Round(tasks, now, nextAt, newSuspects, hasLeft, suspects, pausedNames, looks);
	}

	private static Map<String, Look> looks(@Nullable Array array, String[] names) throws SQLException {
		Map<String, Look> looks = new HashMap<>();
		if (array != null) {
			for (Long[] times : (Long[][]) array.getArray()) {
				looks.put(names[times[0].intValue() - 1], new Look(times[1], times[2], times[3]));
			}
		}
		return looks;
	}

	private static List<String> texts(@Nullable Array array) throws SQLException {
		return (array != null) ? List.of((String[]) array.getArray()) : List.of();
	}

	private static long time(@Nullable Long time) {
		return (time != null) ? time : Long.MAX_VALUE;
	}

	/**
	 * Reads a task by the positions of its columns, which takes less time than by their
	 * names.
	 */
	private static LeasedTask task(ResultSet rs) throws SQLException {
		String schedule = rs.getString(13);
		return new LeasedTask(rs.getString(1), rs.getLong(3), rs.getString(4), rs.getString(5), rs.getString(6),
				rs.getString(7), rs.getLong(8), rs.getInt(9) == TaskRow.RUNNING, rs.getInt(10), rs.getInt(11),
				rs.getInt(12), (schedule != null) ? new StoredSchedule(schedule, rs.getLong(14)) : null);
	}

}
