package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;

/**
 * The statement with which PostgreSQL claims the first tasks of names. The subqueries
 * around the parameters hide their values from the planner, which would otherwise plan
 * each claim anew. The rows are updated by their places in the table ({@code ctid}),
 * which takes fewer reads than a second search by id. A row that has changed meanwhile
 * has another place, and is left to the next claim.
 */
final class PostgresClaim {

	/** The first tasks of each name up to its shares, and of these the first ones. */
	private static final String CHOSEN = """
			with clock as (select {now} as now, ?::bigint as ahead),
			wanted as (
				select * from unnest((select ?::text[]), (select ?::int[]), (select ?::int[]), (select ?::bigint[]))
					as w (name, due, soon, since)
			),
			found as (
				select first.*, w.name, w.due, w.soon, first.next_at <= clock.now as is_due
				from wanted w, clock, lateral (
					select ctid as place, next_at from {task}
					where name = w.name and queue = {pending} and next_at >= w.since
						and next_at <= clock.now + clock.ahead and (owner is null or next_at <= clock.now)
					order by next_at limit w.due + w.soon for update skip locked) first
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
				from clock, chosen where t.ctid = chosen.place
				returning t.*
			)
			""".replace("{begins}", "t.due_at <= clock.now");

	private static final String CLAIM = CHOSEN + CLAIMED + "select " + TaskRow.CLAIM_COLUMNS
			+ ", (select count(*) from chosen) as chosen from clock left join claimed on true";

	private PostgresClaim() {
	}

	/** Nothing is due before the first task that the look at its name has found. */
	static List<TaskRow> claim(Session session, ClaimProgress progress, Map<String, Share> wanted, int limit) {
		ClaimRequest request = progress.request;
		Dialect dialect = session.dialect();
		List<String> names = List.copyOf(wanted.keySet());
		List<Share> shares = List.copyOf(wanted.values());
		return session.planned(CLAIM, (rs) -> {
			List<TaskRow> tasks = new ArrayList<>();
			long chosen = 0;
			while (rs.next()) {
				chosen = rs.getLong("chosen");
				if (chosen > 0 && rs.getString(1) != null) {
					tasks.add(TaskRow.read(rs, dialect));
				}
			}
			progress.more |= tasks.size() < chosen;
			return tasks;
		}, session.givenTime(), Session.millis(request.lookAhead()),
				names.stream().map(dialect::text).toArray(String[]::new),
				shares.stream().map((share) -> Math.min(limit, share.due())).toArray(Integer[]::new),
				shares.stream().map((share) -> Math.min(limit, share.soon())).toArray(Integer[]::new),
				names.stream().map((name) -> progress.look(name).dueAt()).toArray(Long[]::new), limit, request.owner(),
				Session.millis(request.lease()), dialect.storedBytes(request.maxPayloadBytes()));
	}

}
