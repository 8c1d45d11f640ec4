package io.timingwheel.spring.durable.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;
import io.timingwheel.spring.durable.jdbc.CountedClaim.Places;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
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

	/** How many claims in one request in a row have not found the lock. */
	private static final int MAX_WITHOUT_LOCK = 3;

	/** The SQL state if the driver and the database misunderstand each other. */
	private static final String PROTOCOL_VIOLATION = "08P01";

	private final String lock;

	/** Locks and claims in one request. */
	private final ClaimStatement both;

	/** Claims after {@link #lock}, in its transaction. */
	private final ClaimStatement claim;

	/** How many claims in a row have locked in one transaction and claimed in another. */
	private final AtomicInteger withoutLock = new AtomicInteger();

	LimitedClaimStatement(Database database, AtomicLong tableSize, ClaimFloors floors) {
		this.database = database;
		this.floors = floors;
		TableName table = database.table();
		String placeColumns = """
				, (select locked from places), (select missing from places), (select has_lost from places),
				(select free from places)""";
		this.lock = lock(table, database.time().isGiven() ? "" : database.dialect().idleTransactionTimeout());
		this.both = new ClaimStatement(database, tableSize, lock(table, "") + ";\n", wanted(table), placeColumns);
		this.claim = new ClaimStatement(database, tableSize, "", wanted(table), placeColumns);
	}

	/**
	 * The statement that locks the row of a limited name, and remembers the name for the
	 * next statement of the transaction. Claims of other nodes wait for the lock, which
	 * costs less than repeated attempts.
	 * @param column a further column, after a comma; empty for none
	 */
	private static String lock(TableName table, String column) {
		return """
				select set_config('%s', name, true)%s from (
					select name from %s where name = (select ?::text)
						and set_config('lock_timeout', '%dms', true) is not null for update) locked"""
			.formatted(LOCKED_NAME, column, table.limitTable(), LOCK_MILLIS);
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
	 * Locks the name and claims. A claim that has waited too long for the lock is not
	 * tried again here, since the node has other names to claim.
	 *
	 * <p>
	 * Usually the driver sends the two statements in one request. So they are one
	 * transaction, even if each request is a transaction of its own. With some options
	 * the driver sends two requests, and the claim takes nothing. It then follows once
	 * more in a transaction, and so do all further claims if that happens again and
	 * again.
	 * @param room how many tasks the caller wants
	 * @param concurrent the limit of the name
	 */
	CountedClaim claim(ClaimRequest request, String name, int room, int concurrent) {
		if (this.withoutLock.get() < MAX_WITHOUT_LOCK) {
			CountedClaim claim = claimAtOnce(request, name, room, concurrent);
			if (claim != null && (claim.places().locked() || claim.places().missing())) {
				this.withoutLock.set(0);
				return claim;
			}
			this.withoutLock.incrementAndGet();
		}
		return this.database.store().once(false, (jdbc) -> {
			Object text = this.database.dialect().text(name);
			jdbc.query(this.lock, (rs) -> {
			}, text);
			return Objects
				.requireNonNull(jdbc.execute(this.claim.text(), (PreparedStatementCallback<CountedClaim>) (ps) -> {
					Search search = this.floors.search(List.of(name));
					setParameters(ps, parameters(request, text, room, concurrent, search));
					try (ResultSet rs = ps.executeQuery()) {
						return claimed(this.claim.read(rs), request, name, room, search);
					}
				}));
		});
	}

	/**
	 * Locks and claims in one request.
	 * @return {@code null} if the driver cannot do so: it may ask for all columns of the
	 * second result in binary form before it knows that the first result has one column
	 */
	private @Nullable CountedClaim claimAtOnce(ClaimRequest request, String name, int room, int concurrent) {
		Object text = this.database.dialect().text(name);
		try {
			return this.database.store()
				.<@Nullable CountedClaim>once(true,
						(jdbc) -> jdbc.execute(this.both.text(), (PreparedStatementCallback<CountedClaim>) (ps) -> {
							Search search = this.floors.search(List.of(name));
							List<Object> parameters = new ArrayList<>(List.of(text));
							parameters.addAll(parameters(request, text, room, concurrent, search));
							setParameters(ps, parameters);
							ps.execute();
							// The result of the first statement is not needed.
							ps.getMoreResults();
							try (ResultSet rs = ps.getResultSet()) {
								return claimed(this.both.read(rs), request, name, room, search);
							}
						}));
		}
		catch (DataAccessException ex) {
			if (ex.getCause() instanceof SQLException cause && PROTOCOL_VIOLATION.equals(cause.getSQLState())) {
				return null;
			}
			throw ex;
		}
	}

	private List<Object> parameters(ClaimRequest request, Object name, int room, int concurrent, Search search) {
		return List.of(this.database.time().parameter(), 0, LeaseTimes.horizon(Duration.ZERO, request), name,
				concurrent, room, search.floors().get(0), false, room, request.owner(),
				LeaseTimes.millis(request.lease()), this.database.dialect().storedBytes(request.maxPayloadBytes()));
	}

	private static void setParameters(PreparedStatement ps, List<Object> parameters) throws SQLException {
		new ArgumentPreparedStatementSetter(parameters.toArray()).setValues(ps);
	}

	private CountedClaim claimed(ClaimReply reply, ClaimRequest request, String name, int room, Search search) {
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
