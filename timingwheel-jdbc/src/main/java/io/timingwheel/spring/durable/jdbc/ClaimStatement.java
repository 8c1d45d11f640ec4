package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.DelayedTaskStore;

/**
 * The statement that claims tasks on PostgreSQL. Thread-safe.
 */
final class ClaimStatement {

	/** How many tasks that are due soon a claim looks at, to see when a lease ends. */
	private static final int MAX_LOOK = 100;

	private final boolean hasPlaces;

	private final String text;

	private final AtomicLong tableSize;

	/**
	 * Creates the statement.
	 * @param tableSize the size of the table in bytes, as the latest statement saw it
	 * @param prefix another statement before it in the same request, empty for none
	 * @param wanted defines {@code wanted}: how many tasks that are due, and how many
	 * that are due soon, to claim of each name, and since which time to search for them
	 * @param placeColumns the columns with the places of a limited name, each after a
	 * comma; empty for names without limits
	 */
	ClaimStatement(Database database, AtomicLong tableSize, String prefix, String wanted, String placeColumns) {
		this.hasPlaces = !placeColumns.isEmpty();
		this.text = prefix + sql(database, wanted, placeColumns);
		this.tableSize = tableSize;
	}

	/**
	 * The text to execute.
	 */
	String text() {
		return this.text;
	}

	/**
	 * Reads the result.
	 */
	ClaimReply read(ResultSet rs) throws SQLException {
		ClaimReply reply = ClaimReply.read(rs, this.hasPlaces);
		this.tableSize.set(reply.tableSize());
		return reply;
	}

	/**
	 * The statement is cheap if there are no tasks to claim. It reads the index once for
	 * each name from the time that {@link ClaimFloors} gives, and no tasks of other
	 * names. Of tasks whose delivery was lost it makes suspects ({@code taken} is false).
	 * The subqueries around the parameters hide their values from the planner. Otherwise
	 * PostgreSQL would plan the statement for each claim, which takes a third of its
	 * time.
	 *
	 * <p>
	 * The rows are locked and updated by their places in the table ({@code ctid}), which
	 * saves a search in the index for each. If a row changes after the statement has
	 * begun, the row gets another place. The statement then leaves the row to the next
	 * claim.
	 *
	 * <p>
	 * A claim does not search for the next task further ahead than the node sleeps. The
	 * search would walk over the index entries of all tasks that have run during the last
	 * lease, if an old snapshot keeps them.
	 *
	 * <p>
	 * The statement reads the clock at its beginning, to compare the times of the tasks,
	 * and once more after it has changed the tasks. A node compares the second reading
	 * with its own clock when it has the reply. The less time passes in between, the less
	 * late the tasks start.
	 *
	 * <p>
	 * The commit waits for the disk only if a task has begun with the claim.
	 */
	private static String sql(Database database, String wanted, String placeColumns) {
		String now = PostgresDialect.clock(database.time());
		return """
				with clock as (select %1$s + ? as now, ? as look_ahead, ? as horizon),
				%8$s,
				suspect as (
					select first.place, first.next_at from wanted w, clock, lateral (
						select ctid as place, next_at from %2$s
						where name = w.name and suspect = 1 and next_at <= clock.now
						order by next_at limit 1 for update skip locked) first
					where (select ?::boolean)
					order by first.next_at limit 1),
				found as (
					select first.*, w.due, w.soon, first.next_at <= clock.now as is_due
					from wanted w, clock, lateral (
						select ctid as place, name, next_at, status from %2$s
						where name = w.name and suspect = 0
							and next_at >= w.since and next_at <= clock.now + clock.look_ahead
							and (owner is null or next_at <= clock.now)
						order by next_at limit w.due + w.soon for update skip locked) first
					where not exists (select 1 from suspect)),
				ranked as (
					select *, row_number() over (partition by name, is_due, status order by next_at) as rank from found),
				chosen as (
					(select place, next_at, status <> %4$d as taken from ranked
						where status = %4$d or rank <= case when is_due then due else soon end
						order by next_at limit (select ?::int))
					union all select place, next_at, true from suspect),
				claimed as (
					update %2$s t set owner = case when taken then ? end,
						fence = greatest(t.fence + 1, clock.now * 1000),
						next_at = case when taken then least(greatest(t.due_at, clock.now) + ?, %3$d) else t.next_at end,
						lost_deliveries = t.lost_deliveries + t.alone,
						suspect = case when taken then t.suspect else 1 end,
						alone = 0,
						deliveries = t.deliveries + case when %5$s then 1 else 0 end,
						pending_key = case when %5$s then null else t.pending_key end,
						status = case when %5$s then %4$d else t.status end
					from chosen, clock where t.ctid = chosen.place
					returning chosen.next_at as found_at, taken, t.*)
				select id, found_at, name, taken, suspect, fence, task_key,
					case when taken and octet_length(payload) <= ? then payload end, traceparent, due_at, status, attempt,
					deliveries, lost_deliveries, claimed.next_at, schedule, scheduled_at,
					clock.now, %12$s,
					(select count(*) from chosen) > (select count(*) from claimed),
					case when (select look_ahead from clock) < %10$d or not exists (select 1 from claimed) then (
						select min(least(later.next_at, soon.next_at)) from wanted w left join lateral (
							select next_at from %2$s
							where name = w.name and suspect = 0 and next_at > (select now + look_ahead from clock)
								and next_at <= (
									select case when exists (select 1 from claimed) then now + %13$d else now + horizon end
									from clock)
							order by next_at limit 1) later on true left join lateral (
							select min(next_at) filter (where owner is not null or number = %6$d) as next_at from (
								select next_at, owner, row_number() over (order by next_at) as number from %2$s
								where name = w.name and suspect = 0 and next_at > (select now from clock)
									and next_at <= (select now + look_ahead from clock)
								order by next_at limit %6$d) first) soon on true) end,
					(select now + %11$s from clock, (select count(*) from claimed) changed),
					(%7$s where not exists (select 1 from claimed where taken and status = %4$d))%9$s
				from clock left join claimed on true
				"""
			.formatted(now, database.table(), DelayedTaskStore.MAX_TIME, TaskRow.RUNNING,
					"t.status = " + TaskRow.PENDING + " and t.suspect = 0 and t.due_at <= clock.now", MAX_LOOK,
					PostgresDialect.WITHOUT_DISK, wanted, placeColumns, Claimed.MAX_PAUSE_MILLIS,
					PostgresDialect.elapsed(database.time()), SizedStatements.size(database.table()),
					Claimed.MAX_PAUSE_MILLIS + LeaseTimes.CLAIM_MILLIS);
	}

}
