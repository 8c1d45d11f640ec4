package io.timingwheel.spring.durable.jdbc;

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
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The most frequent transitions in SQL that H2, MariaDB and MySQL understand. A
 * transition locks rows, checks them, and then changes them. {@link PortableClaims} has
 * the claim.
 */
final class PortableTransitions extends Transitions {

	private final Database database;

	private final PortableDialect dialect;

	private final TableName table;

	private final String insert;

	private final String replace;

	/** The assignment of a lease that lasts from now. */
	private final String leaseFromNow;

	private final PortableClaims claims;

	PortableTransitions(Database database, PortableDialect dialect) {
		super(database);
		this.database = database;
		this.dialect = dialect;
		this.table = database.table();
		this.insert = NewRow.insert(this.table);
		this.replace = NewRow.replace(this.table);
		this.leaseFromNow = " next_at = least(" + dialect.nowExpression(database.time()) + " + ?, "
				+ DelayedTaskStore.MAX_TIME + ")";
		this.claims = new PortableClaims(database, dialect);
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
			TaskRow earlier = (task.key() != null) ? pending.get(new TaskId(task.name(), task.key())) : null;
			NewRow row = NewRow.of(task, now, earlier);
			if (earlier == null) {
				((task.key() != null) ? keyed : unkeyed).add(row);
			}
			else if (task.replaces()) {
				replacements.add(row.replaceValues(earlier, this.dialect));
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
			Parameters.addList(parameters, values);
			ids.addAll(jdbc.queryForList("select id from " + this.table + " where name = ? and pending_key"
					+ Parameters.isOneOf(values.size()), String.class, parameters.toArray()));
		});
		Map<TaskId, TaskRow> pending = new HashMap<>();
		if (!ids.isEmpty()) {
			jdbc.query("select " + TaskRow.COLUMNS + " from " + this.table + " where id"
					+ Parameters.isOneOf(ids.size()) + " and status = " + TaskRow.PENDING
					+ ((ids.size() > 1) ? " order by id" : "") + " for update", (rs) -> {
						TaskRow row = TaskRow.read(rs, this.dialect);
						pending.put(new TaskId(row.name(), Objects.requireNonNull(row.key())), row);
					}, Parameters.list(ids));
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
		String unlessTaken = this.dialect.unlessTaken("fence");
		try {
			insert(jdbc, rows, unlessTaken);
			if (unlessTaken.isEmpty()) {
				return rows;
			}
		}
		catch (DuplicateKeyException ex) {
			// H2 has inserted the other rows of the batch.
		}
		// Neither H2 nor MySQL tells which rows the batch has inserted.
		List<String> ids = rows.stream().map((row) -> row.task().id()).toList();
		Set<String> inserted = new HashSet<>(
				jdbc.queryForList("select id from " + this.table + " where id" + Parameters.isOneOf(ids.size()),
						String.class, Parameters.list(ids)));
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

	@Override
	Claimed claim(ClaimRequest request) {
		return this.claims.claim(request);
	}

	/**
	 * In MySQL an assignment sees the new values of the columns to its left. A column is
	 * therefore assigned after the assignments that read the column.
	 */
	@Override
	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(tasks,
				"update " + this.table + " set deliveries = deliveries + case when status = " + TaskRow.PENDING
						+ " or suspect = 1 then 1 else 0 end, alone = greatest(alone, suspect),"
						+ " suspect = 0, pending_key = null, status = " + TaskRow.RUNNING + "," + this.leaseFromNow,
				(jdbc) -> fromNow(lease, jdbc), Set.of(TaskRow.PENDING, TaskRow.RUNNING), Reply.REFUSED);
	}

	@Override
	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(tasks, "update " + this.table + " set" + this.leaseFromNow, (jdbc) -> fromNow(lease, jdbc),
				Set.of(TaskRow.RUNNING), Reply.REFUSED);
	}

	/**
	 * If a test moves the time, one statement deletes a single task, without a lock
	 * before it.
	 */
	@Override
	List<Reply> acknowledge(List<TaskRef> tasks) {
		if (this.database.time().isGiven() && tasks.size() == 1
				&& this.database.store().single((jdbc) -> acknowledge(tasks.get(0), jdbc))) {
			return List.of(Reply.DONE);
		}
		return change(tasks, "delete from " + this.table, (jdbc) -> List.of(), Set.of(TaskRow.RUNNING), Reply.DONE);
	}

	private List<Object> fromNow(Duration lease, JdbcOperations jdbc) {
		return List.of(this.dialect.nowParameter(this.database.time(), jdbc), LeaseTimes.millis(lease));
	}

	/**
	 * Changes the tasks that the caller has leased.
	 * @param sql the statement without its condition
	 * @param values gives the parameters of the statement
	 * @param statuses the statuses from which the tasks change
	 * @param gone the reply if there is no such task
	 */
	private List<Reply> change(List<TaskRef> tasks, String sql, Function<JdbcOperations, List<Object>> values,
			Set<Integer> statuses, Reply gone) {
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
				List<@Nullable Object> parameters = new ArrayList<>(values.apply(jdbc));
				Parameters.addList(parameters, ids);
				jdbc.update(sql + " where id" + Parameters.isOneOf(ids.size()), parameters.toArray());
			}
			return replies;
		});
	}

}
