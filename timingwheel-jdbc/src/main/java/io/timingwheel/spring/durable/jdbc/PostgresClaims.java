package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeasedTask;

/**
 * Leases tasks with one statement, which is cheap if there are none. The names are looked
 * up in a way that leads PostgreSQL to expect most tasks to match: it then reads the
 * index by time in its order, rather than sort all tasks of these names, whatever it
 * knows of the table.
 */
final class PostgresClaims extends Claims {

	private final Database database;

	private final String claim;

	PostgresClaims(Database database) {
		super(database);
		this.database = database;
		this.claim = """
				with clock as (select %1$s + ? as now, ? as look_ahead, ?::text[] as names),
				due as (
					select id, next_at from %2$s
					where next_at <= (select now + look_ahead from clock) and array_position((select names from clock), name::text) is not null
						and (owner is null or next_at <= (select now from clock))
					order by next_at limit ? for update skip locked),
				claimed as (
					update %2$s t set owner = ?, fence = t.fence + 1,
						next_at = least(greatest(t.due_at, clock.now) + ?, %3$d),
						lost_deliveries = t.lost_deliveries + case when t.status = %4$d then 1 else 0 end,
						deliveries = t.deliveries + case when t.due_at <= clock.now or t.status = %4$d then 1 else 0 end,
						pending_key = case when t.due_at <= clock.now or t.status = %4$d then null else t.pending_key end,
						status = case when t.due_at <= clock.now then %4$d else t.status end
					from due, clock where t.id = due.id
					returning due.next_at as found_at, t.*)
				select clock.now as now_at, found_at, claimed.next_at as lease_end, id, fence, name, task_key, due_at, status,
					attempt, deliveries, lost_deliveries, case when octet_length(payload) <= ? then payload end as payload,
					case when (select count(*) from claimed) < ? then (
						select next_at from %2$s
						where next_at > (select now from clock) and array_position((select names from clock), name::text) is not null
							and (owner is not null or next_at > (select now + look_ahead from clock))
						order by next_at limit 1) end as later_at
				from clock left join claimed on true
				"""
			.formatted(PostgresDialect.NOW, database.table(), DelayedTaskStore.MAX_TIME, Status.RUNNING);
	}

	@Override
	Claimed claim(ClaimRequest request) {
		Dialect dialect = this.database.dialect();
		String[] names = request.names().stream().map(dialect::text).toArray(String[]::new);
		Object[] parameters = { this.database.offset().getAsLong(), Times.millis(request.lookAhead()), names,
				request.limit(), request.owner(), Times.millis(request.lease()), request.maxPayloadBytes(),
				request.limit() };
		return this.database.engine().single((jdbc) -> jdbc.query(this.claim, (rs) -> {
			List<Found> found = new ArrayList<>();
			long now = 0;
			long nextAt = Long.MAX_VALUE;
			while (rs.next()) {
				now = rs.getLong("now_at");
				Long later = rs.getObject("later_at", Long.class);
				nextAt = (later != null) ? later : Long.MAX_VALUE;
				String id = rs.getString("id");
				if (id != null) {
					LeasedTask task = new LeasedTask(id, rs.getLong("fence"), TaskRow.name(rs, dialect),
							dialect.text(rs, "task_key"), rs.getString("payload"), rs.getLong("due_at"),
							rs.getInt("status") == Status.RUNNING, rs.getInt("attempt"), rs.getInt("deliveries"),
							rs.getInt("lost_deliveries"));
					found.add(new Found(task, rs.getLong("found_at"), rs.getLong("lease_end")));
				}
			}
			return claim(found, now, nextAt);
		}, parameters));
	}

}
