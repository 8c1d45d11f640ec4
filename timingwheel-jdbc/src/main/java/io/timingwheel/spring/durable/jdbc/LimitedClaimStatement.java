package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;
import io.timingwheel.spring.durable.jdbc.CountedClaim.Places;

import org.springframework.jdbc.core.ArgumentPreparedStatementSetter;
import org.springframework.jdbc.core.PreparedStatementCallback;

/**
 * Claims tasks of a name whose only limit is the number of running tasks, in one request
 * to PostgreSQL. The first statement of the request locks the row of the name. The second
 * counts the running tasks and claims. The lock lasts until the request ends, so a node
 * that stops does not keep it. Thread-safe.
 */
final class LimitedClaimStatement {

	/**
	 * How long a claim waits for another claim of the name, in milliseconds.
	 */
	private static final int LOCK_MILLIS = 100;

	/** The setting with the limited name whose row the transaction has locked. */
	private static final String LOCKED_NAME = "timingwheel.locked_name";

	private final Database database;

	private final ClaimFloors floors;

	private final ClaimStatement statement;

	LimitedClaimStatement(Database database, AtomicLong tableSize, ClaimFloors floors) {
		this.database = database;
		this.floors = floors;
		TableName table = database.table();
		this.statement = new ClaimStatement(database, tableSize, lock(table), wanted(table), """
				, (select locked from places), (select missing from places), (select has_lost from places),
				(select free from places)""");
	}

	/**
	 * The statement that locks the row of a limited name, and remembers the name for the
	 * next statement of the transaction. Claims of other nodes wait for the lock, which
	 * costs less than repeated attempts.
	 */
	private static String lock(TableName table) {
		return """
				select set_config('%s', name, true) from (
					select name from %s where name = (select ?::text)
						and set_config('lock_timeout', '%dms', true) is not null for update) locked;
				""".formatted(LOCKED_NAME, table.limitTable(), LOCK_MILLIS);
	}

	/**
	 * What the claim wants: no more than there are free places, and nothing without the
	 * lock of the name. The statement begins after the lock was taken, so that it sees
	 * all tasks that earlier claims have begun. If runs were lost, it takes nothing,
	 * since {@link JdbcLimitedClaims} deals with them.
	 */
	private static String wanted(TableName table) {
		return """
				limited as (select (select ?::text) as name, (select ?::int) as concurrent),
				running as (
					select count(*) as number, coalesce(bool_or(next_at <= (select now from clock)), false) as has_ended from (
						select next_at from %1$s
						where name = (select name from limited) and status = %2$d and owner is not null
							and current_setting('%3$s', true) = (select name from limited)
						order by name, status, due_at, id limit (select concurrent from limited)) counted),
				places as (
					select coalesce(current_setting('%3$s', true) = limited.name, false) as locked,
						not exists (select 1 from %4$s where name = (select name from limited)) as missing,
						running.has_ended or exists (
							select 1 from %1$s where name = (select name from limited) and suspect = 1
								and next_at is not null) as has_lost,
						greatest(limited.concurrent - running.number, 0)::int as free
					from limited, running),
				wanted as (
					select limited.name, case when locked and not has_lost then least((select ?::int), free) else 0 end as due,
						0 as soon, (select ?::bigint) as since
					from limited, places)"""
			.formatted(table, TaskRow.RUNNING, LOCKED_NAME, table.limitTable());
	}

	/**
	 * Locks the name and claims. The driver sends the two statements in one request. So
	 * they are one transaction, even if each request is a transaction of its own. If a
	 * driver sent two requests, the claim would take nothing. A claim that has waited too
	 * long for the lock is not tried again here, since the node has other names to claim.
	 * @param room how many tasks the caller wants
	 * @param concurrent the limit of the name
	 */
	CountedClaim claim(ClaimRequest request, String name, int room, int concurrent) {
		Object text = this.database.dialect().text(name);
		return this.database.store()
			.once(true, (jdbc) -> Objects
				.requireNonNull(jdbc.execute(this.statement.text(), (PreparedStatementCallback<CountedClaim>) (ps) -> {
					Search search = this.floors.search(List.of(name));
					new ArgumentPreparedStatementSetter(new Object[] { text, this.database.time().parameter(), 0,
							LeaseTimes.horizon(Duration.ZERO, request), text, concurrent, room, search.floors().get(0),
							false, room, request.owner(), LeaseTimes.millis(request.lease()),
							request.maxPayloadBytes() })
						.setValues(ps);
					ps.execute();
					// The result of the first statement is not needed.
					ps.getMoreResults();
					try (ResultSet rs = ps.getResultSet()) {
						return claimed(rs, request, name, room, search);
					}
				})));
	}

	private CountedClaim claimed(ResultSet rs, ClaimRequest request, String name, int room, Search search)
			throws SQLException {
		ClaimReply reply = this.statement.read(rs);
		Places places = Objects.requireNonNull(reply.places());
		if (places.usable() && !reply.hasLeft()) {
			Limit limit = new Limit(Math.min(room, places.free()), 0);
			this.floors.searched(search, new ClaimRequest(request.owner(), Map.of(name, limit), room, false,
					Duration.ZERO, request.lease(), request.maxPayloadBytes()), reply.found(), reply.now());
		}
		return new CountedClaim(reply.tasks(), this.database.time().reading(reply.endedAt()), reply.nextAt(),
				reply.hasLeft(), places);
	}

}
