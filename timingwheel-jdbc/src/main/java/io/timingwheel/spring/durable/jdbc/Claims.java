package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeasedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Leases tasks that are due soon, or whose lease has ended. Looks first whether there are
 * any, without locks.
 */
class Claims {

	private final Database database;

	Claims(Database database) {
		this.database = database;
	}

	Claimed claim(ClaimRequest request) {
		Glance glance = this.database.engine().single((jdbc) -> glance(jdbc, request));
		if (glance.claimableAt() == null) {
			return new Claimed(List.of(), glance.now(), glance.nextAt());
		}
		List<Found> found = this.database.engine().transaction((jdbc, status) -> lease(jdbc, request, glance.now()));
		return claim(found, glance.now(), glance.nextAt());
	}

	static Claimed claim(List<Found> found, long now, long nextAt) {
		List<LeasedTask> tasks = found.stream()
			.sorted(Comparator.comparingLong(Found::foundAt))
			.map(Found::task)
			.toList();
		return new Claimed(tasks, now, found.stream().mapToLong(Found::leaseEnd).reduce(nextAt, Math::min));
	}

	/**
	 * Whether there is anything to claim, and when there will be more.
	 */
	private Glance glance(JdbcOperations jdbc, ClaimRequest request) {
		String now = this.database.dialect().nowExpression();
		String table = this.database.table().qualified();
		String names = names(request);
		String sql = "select %1$s as now_at, (select next_at from %2$s where next_at <= %1$s + ? and %3$s"
				+ " and (owner is null or next_at <= %1$s) order by next_at limit 1) as claimable_at,"
				+ " (select next_at from %2$s where next_at > %1$s and %3$s"
				+ " and (owner is not null or next_at > %1$s + ?) order by next_at limit 1) as next_at";
		long clock = this.database.dialect().nowParameter(this.database.offset().getAsLong());
		long lookAhead = Times.millis(request.lookAhead());
		List<@Nullable Object> parameters = new ArrayList<>(List.of(clock, clock, lookAhead));
		addNames(parameters, request);
		parameters.addAll(List.of(clock, clock));
		addNames(parameters, request);
		parameters.addAll(List.of(clock, lookAhead));
		return jdbc.query(sql.formatted(now, table, names), (rs, rowNum) -> Glance.read(rs), parameters.toArray())
			.get(0);
	}

	private List<Found> lease(JdbcOperations jdbc, ClaimRequest request, long now) {
		Dialect dialect = this.database.dialect();
		String lock = "select " + TaskRow.COLUMNS + ", next_at, case when octet_length(payload) <= ? then payload end"
				+ " as payload from " + this.database.table() + " where next_at <= ? and " + names(request)
				+ " and (owner is null or next_at <= ?) order by next_at limit ? for update skip locked";
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(request.maxPayloadBytes());
		parameters.add(Times.plus(now, Times.millis(request.lookAhead())));
		addNames(parameters, request);
		parameters.add(now);
		parameters.add(request.limit());
		List<Found> found = jdbc.query(lock,
				(rs, rowNum) -> new Found(leased(TaskRow.read(rs, dialect), rs.getString("payload"), now),
						rs.getLong("next_at"), Times.leaseEnd(rs.getLong("due_at"), now, request.lease())),
				parameters.toArray());
		if (!found.isEmpty()) {
			update(jdbc, request, now, found);
		}
		return found;
	}

	private void update(JdbcOperations jdbc, ClaimRequest request, long now, List<Found> found) {
		// MySQL sees the new values of columns that stand further left.
		String update = ("update %s set owner = ?, fence = fence + 1, next_at = least(greatest(due_at, ?) + ?, %d),"
				+ " lost_deliveries = lost_deliveries + case when status = %d then 1 else 0 end,"
				+ " deliveries = deliveries + case when due_at <= ? or status = %3$d then 1 else 0 end,"
				+ " pending_key = case when due_at <= ? or status = %3$d then null else pending_key end,"
				+ " status = case when due_at <= ? then %3$d else status end where id in %s")
			.formatted(this.database.table(), DelayedTaskStore.MAX_TIME, Status.RUNNING,
					Dialect.placeholders(found.size()));
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.addAll(List.of(request.owner(), now, Times.millis(request.lease()), now, now, now));
		Dialect.padded(parameters, found.stream().map((task) -> task.task().id()).toList());
		jdbc.update(update, parameters.toArray());
	}

	/**
	 * A task as it is once leased.
	 */
	private static LeasedTask leased(TaskRow row, @Nullable String payload, long now) {
		boolean begins = row.dueAt() <= now || row.isRunning();
		return new LeasedTask(row.id(), row.fence() + 1, row.name(), row.key(), payload, row.dueAt(), begins,
				row.attempt(), row.deliveries() + (begins ? 1 : 0), row.lostDeliveries() + (row.isRunning() ? 1 : 0));
	}

	private String names(ClaimRequest request) {
		return this.database.dialect().nameWithoutIndex() + " in " + Dialect.placeholders(request.names().size());
	}

	private void addNames(List<@Nullable Object> parameters, ClaimRequest request) {
		Dialect.padded(parameters, request.names().stream().map(this.database.dialect()::text).toList());
	}

	/**
	 * A task that was claimed.
	 *
	 * @param task the task
	 * @param foundAt the time by which it was found
	 * @param leaseEnd the time by which it is found from now on
	 */
	record Found(LeasedTask task, long foundAt, long leaseEnd) {

	}

	private record Glance(long now, @Nullable Long claimableAt, long nextAt) {

		static Glance read(ResultSet rs) throws SQLException {
			Long nextAt = rs.getObject("next_at", Long.class);
			return new Glance(rs.getLong("now_at"), rs.getObject("claimable_at", Long.class),
					(nextAt != null) ? nextAt : Long.MAX_VALUE);
		}

	}

}
