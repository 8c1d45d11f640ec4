package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The most frequent transitions in SQL that H2, MariaDB and MySQL understand. A
 * transition locks rows, checks them, and then changes them.
 */
final class PortableTransitions extends Transitions {

	private final Database database;

	private final PortableDialect dialect;

	private final TableName table;

	private final String insert;

	private final String replace;

	/** The assignment of a lease that lasts from now. */
	private final String leaseFromNow;

	PortableTransitions(Database database, PortableDialect dialect) {
		super(database);
		this.database = database;
		this.dialect = dialect;
		this.table = database.table();
		this.insert = NewRow.insert(this.table);
		this.replace = NewRow.replace(this.table);
		this.leaseFromNow = " next_at = least(" + dialect.nowExpression() + " + ?, " + DelayedTaskStore.MAX_TIME + ")";
	}

	@Override
	Map<String, Enqueued> storeBatch(JdbcOperations jdbc, List<NewTask> batch) {
		long now = this.database.now(jdbc);
		Map<TaskId, TaskRow> pending = lockPending(jdbc, batch);
		Map<String, Enqueued> stored = new HashMap<>();
		List<NewRow> unkeyed = new ArrayList<>();
		List<NewRow> keyed = new ArrayList<>();
		List<Object[]> replacements = new ArrayList<>();
		for (NewTask task : batch) {
			NewRow row = NewRow.of(task, now);
			TaskRow earlier = (task.key() != null) ? pending.get(new TaskId(task.name(), task.key())) : null;
			if (earlier == null) {
				((task.key() != null) ? keyed : unkeyed).add(row);
			}
			else if (NewRow.replaces(task)) {
				replacements.add(row.replaceValues(earlier));
				stored.put(task.id(), row.replaced(earlier));
			}
			else {
				stored.put(task.id(), row.kept(earlier));
			}
		}
		update(jdbc, this.replace, replacements);
		insert(jdbc, unkeyed, "");
		unkeyed.forEach((row) -> stored.put(row.task().id(), row.inserted()));
		insertUnlessPending(jdbc, keyed).forEach((row) -> stored.put(row.task().id(), row.inserted()));
		return stored;
	}

	/**
	 * Locks the pending tasks that have the keys of new tasks. Looks up the keys without
	 * a lock, and then locks the rows by their ids. In MySQL, a lock by an absent key
	 * would stop other transactions from storing the neighbouring keys.
	 */
	private Map<TaskId, TaskRow> lockPending(JdbcOperations jdbc, List<NewTask> tasks) {
		Map<String, List<Object>> keys = new TreeMap<>();
		for (NewTask task : tasks) {
			if (task.key() != null) {
				keys.computeIfAbsent(task.name(), (name) -> new ArrayList<>()).add(this.dialect.text(task.key()));
			}
		}
		List<String> ids = new ArrayList<>();
		keys.forEach((name, values) -> {
			List<@Nullable Object> parameters = new ArrayList<>(List.of(this.dialect.text(name)));
			Database.addPadded(parameters, values);
			ids.addAll(jdbc.queryForList("select id from " + this.table + " where name = ? and pending_key"
					+ Database.isOneOf(values.size()), String.class, parameters.toArray()));
		});
		Map<TaskId, TaskRow> pending = new HashMap<>();
		if (!ids.isEmpty()) {
			List<@Nullable Object> parameters = new ArrayList<>();
			Database.addPadded(parameters, ids);
			jdbc.query("select " + TaskRow.COLUMNS + " from " + this.table + " where id" + Database.isOneOf(ids.size())
					+ " and status = " + TaskRow.PENDING + ((ids.size() > 1) ? " order by id" : "") + " for update",
					(rs) -> {
						TaskRow row = TaskRow.read(rs, this.dialect);
						pending.put(new TaskId(row.name(), Objects.requireNonNull(row.key())), row);
					}, parameters.toArray());
		}
		return pending;
	}

	/**
	 * Inserts rows whose keys were not pending a moment ago.
	 * @return the rows that were inserted
	 */
	private List<NewRow> insertUnlessPending(JdbcOperations jdbc, List<NewRow> rows) {
		if (rows.isEmpty()) {
			return rows;
		}
		String unlessPending = this.dialect.unlessPending();
		try {
			insert(jdbc, rows, unlessPending);
			if (unlessPending.isEmpty()) {
				return rows;
			}
		}
		catch (DuplicateKeyException ex) {
			// H2 has inserted the other rows of the batch.
		}
		// Neither H2 nor MySQL tells which rows the batch has inserted.
		List<@Nullable Object> ids = new ArrayList<>();
		Database.addPadded(ids, rows.stream().map((row) -> row.task().id()).toList());
		Set<String> inserted = new HashSet<>(
				jdbc.queryForList("select id from " + this.table + " where id in " + Database.placeholders(rows.size()),
						String.class, ids.toArray()));
		return rows.stream().filter((row) -> inserted.contains(row.task().id())).toList();
	}

	private void insert(JdbcOperations jdbc, List<NewRow> rows, String suffix) {
		update(jdbc, this.insert + suffix, rows.stream().map((row) -> row.insertValues(this.dialect)).toList());
	}

	private static void update(JdbcOperations jdbc, String sql, List<Object[]> rows) {
		if (rows.size() == 1) {
			jdbc.update(sql, rows.get(0));
		}
		else if (!rows.isEmpty()) {
			jdbc.batchUpdate(sql, rows);
		}
	}

	/**
	 * First checks, without locks, whether there is anything to claim.
	 */
	@Override
	Claimed claim(ClaimRequest request) {
		Outlook outlook = this.database.store().single((jdbc) -> outlook(jdbc, request));
		if (outlook.claimableAt() == null) {
			return new Claimed(List.of(), outlook.now(), outlook.nextAt());
		}
		List<ClaimedRow> claimed = this.database.store()
			.transaction((jdbc, status) -> lease(jdbc, request, outlook.now()));
		return ClaimedRow.claim(claimed, outlook.now(), outlook.nextAt());
	}

	private Outlook outlook(JdbcOperations jdbc, ClaimRequest request) {
		String sql = "select %1$s as now_at, (select next_at from %2$s where next_at <= %1$s + ? and %3$s"
				+ " and (owner is null or next_at <= %1$s) order by next_at limit 1) as claimable_at,"
				+ " (select next_at from %2$s where next_at > %1$s and %3$s"
				+ " and (owner is not null or next_at > %1$s + ?) order by next_at limit 1) as next_at";
		long clock = this.dialect.nowParameter(this.database.offset().getAsLong());
		long lookAhead = LeaseTimes.millis(request.lookAhead());
		List<@Nullable Object> parameters = new ArrayList<>(List.of(clock, clock, lookAhead));
		addNames(parameters, request);
		parameters.addAll(List.of(clock, clock));
		addNames(parameters, request);
		parameters.addAll(List.of(clock, lookAhead));
		return jdbc
			.query(sql.formatted(this.dialect.nowExpression(), this.table, hasNameOf(request)),
					(rs, rowNum) -> Outlook.read(rs), parameters.toArray())
			.get(0);
	}

	private List<ClaimedRow> lease(JdbcOperations jdbc, ClaimRequest request, long now) {
		// The database may have failed over since the time was read for the outlook.
		long leasedAt = this.database.now(jdbc);
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(request.maxPayloadBytes());
		parameters.add(LeaseTimes.plus(now, request.lookAhead()));
		addNames(parameters, request);
		parameters.add(now);
		parameters.add(request.limit());
		List<ClaimedRow> claimed = jdbc.query(
				"select " + TaskRow.COLUMNS
						+ ", next_at, case when octet_length(payload) <= ? then payload end as payload from "
						+ this.table + " where next_at <= ? and " + hasNameOf(request)
						+ " and (owner is null or next_at <= ?) order by next_at limit ? for update skip locked",
				(rs, rowNum) -> new ClaimedRow(
						leased(TaskRow.read(rs, this.dialect), rs.getString("payload"), now, leasedAt),
						rs.getLong("next_at"), LeaseTimes.leaseEnd(rs.getLong("due_at"), now, request.lease())),
				parameters.toArray());
		if (!claimed.isEmpty()) {
			List<@Nullable Object> values = new ArrayList<>();
			values.addAll(List.of(request.owner(), TaskRow.micros(leasedAt), now, LeaseTimes.millis(request.lease()),
					now, now, now));
			Database.addPadded(values, claimed.stream().map((task) -> task.task().id()).toList());
			jdbc.update(lease(claimed.size()), values.toArray());
		}
		return claimed;
	}

	/**
	 * The statement that leases tasks. In MySQL an assignment sees the new values of the
	 * columns to its left. The assignment of the status is therefore the last one.
	 */
	private String lease(int tasks) {
		return ("update %s set owner = ?, " + TaskRow.RAISE_FENCE + ", next_at = least(greatest(due_at, ?) + ?, %d),"
				+ " lost_deliveries = lost_deliveries + case when status = %d then 1 else 0 end,"
				+ " deliveries = deliveries + case when due_at <= ? or status = %3$d then 1 else 0 end,"
				+ " pending_key = case when due_at <= ? or status = %3$d then null else pending_key end,"
				+ " status = case when due_at <= ? then %3$d else status end where id in %s")
			.formatted(this.table, DelayedTaskStore.MAX_TIME, TaskRow.RUNNING, Database.placeholders(tasks));
	}

	/**
	 * A task as it is after the lease.
	 * @param now the time that decides whether the task begins
	 * @param leasedAt the time of the lease
	 */
	private static LeasedTask leased(TaskRow row, @Nullable String payload, long now, long leasedAt) {
		boolean begins = row.dueAt() <= now || row.isRunning();
		return new LeasedTask(row.id(), row.nextFence(leasedAt), row.name(), row.key(), payload, row.dueAt(), begins,
				row.attempt(), row.deliveries() + (begins ? 1 : 0), row.lostDeliveries() + (row.isRunning() ? 1 : 0));
	}

	private String hasNameOf(ClaimRequest request) {
		return this.dialect.nameWithoutIndex() + " in " + Database.placeholders(request.names().size());
	}

	private void addNames(List<@Nullable Object> parameters, ClaimRequest request) {
		Database.addPadded(parameters, request.names().stream().map(this.dialect::text).toList());
	}

	/**
	 * As in a claim, the status comes after the assignment that depends on it.
	 */
	@Override
	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(tasks,
				"update " + this.table + " set deliveries = deliveries + case when status = " + TaskRow.PENDING
						+ " then 1 else 0 end, pending_key = null, status = " + TaskRow.RUNNING + ","
						+ this.leaseFromNow,
				fromNow(lease), Set.of(TaskRow.PENDING, TaskRow.RUNNING), Reply.REFUSED);
	}

	@Override
	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(tasks, "update " + this.table + " set" + this.leaseFromNow, fromNow(lease),
				Set.of(TaskRow.RUNNING), Reply.REFUSED);
	}

	@Override
	List<Reply> acknowledge(List<TaskRef> tasks) {
		return change(tasks, "delete from " + this.table, List.of(), Set.of(TaskRow.RUNNING), Reply.DONE);
	}

	private List<Object> fromNow(Duration lease) {
		return List.of(this.dialect.nowParameter(this.database.offset().getAsLong()), LeaseTimes.millis(lease));
	}

	/**
	 * Changes the tasks that the caller has leased.
	 * @param sql the statement without its condition
	 * @param values the parameters of the statement
	 * @param statuses the statuses from which the tasks change
	 * @param gone the reply if there is no such task
	 */
	private List<Reply> change(List<TaskRef> tasks, String sql, List<Object> values, Set<Integer> statuses,
			Reply gone) {
		return this.database.store().transaction((jdbc, status) -> {
			LockedTasks locked = LockedTasks.lock(this.database, jdbc, status, tasks);
			Set<String> ids = new HashSet<>();
			List<Reply> replies = locked.replies(tasks, Function.identity(), gone, (task, row) -> {
				if (row.isHeldAs(task) && statuses.contains(row.status())) {
					ids.add(row.id());
					return Reply.DONE;
				}
				return Reply.REFUSED;
			});
			if (!ids.isEmpty()) {
				List<@Nullable Object> parameters = new ArrayList<>(values);
				Database.addPadded(parameters, ids);
				jdbc.update(sql + " where id in " + Database.placeholders(ids.size()), parameters.toArray());
			}
			return replies;
		});
	}

	/**
	 * The result of the check for tasks to claim.
	 *
	 * @param claimableAt the {@code next_at} of the first task to claim, {@code null} if
	 * there is none
	 * @param nextAt when there will be more to claim
	 */
	private record Outlook(long now, @Nullable Long claimableAt, long nextAt) {

		static Outlook read(ResultSet rs) throws SQLException {
			Long nextAt = rs.getObject("next_at", Long.class);
			return new Outlook(rs.getLong("now_at"), rs.getObject("claimable_at", Long.class),
					(nextAt != null) ? nextAt : Long.MAX_VALUE);
		}

	}

}
