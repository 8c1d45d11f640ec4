package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.TaskRef;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * What nodes do with the tasks that they have leased: begin, renew, settle. Each call
 * locks the rows, decides, and writes. The usual calls change all tasks in one way, which
 * takes PostgreSQL one statement. A settlement that needs the key of its task is a
 * transaction of its own ({@link TakenKeys}).
 */
final class LeasedTasks {

	private final Database database;

	private final TakenKeys takenKeys;

	private final Change begin;

	private final Change renew;

	private final Change acknowledge;

	LeasedTasks(Database database) {
		this.database = database;
		this.takenKeys = new TakenKeys(database);
		// In MySQL an assignment sees the new values of the columns to its left.
		this.begin = new Change(database, """
				deliveries = deliveries + case when status = {pending} then 1 else 0 end,
				held_key = case when schedule is null then null else held_key end, first_at = null,
				status = {running}, next_at = least({now} + ?, {max})""", true, Reply.REFUSED);
		this.renew = new Change(database, "next_at = least({now} + ?, {max})", false, Reply.REFUSED);
		this.acknowledge = new Change(database, null, false, Reply.DONE);
	}

	/**
	 * Begin: leased tasks run, and those that run once give up their keys.
	 */
	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(this.begin, tasks, this.database.givenTime(), DueTime.after(lease).resolve(0));
	}

	/**
	 * Renew: the leases of running tasks last from now.
	 */
	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(this.renew, tasks, this.database.givenTime(), DueTime.after(lease).resolve(0));
	}

	/**
	 * Settle: acknowledges with one change, and the other settlements one by one.
	 */
	List<Reply> settle(List<Settlement> settlements) {
		List<TaskRef> done = new ArrayList<>();
		List<Settlement> others = new ArrayList<>();
		for (Settlement settlement : settlements) {
			if (settlement instanceof Settlement.Acknowledge) {
				done.add(settlement.task());
			}
			else {
				others.add(settlement);
			}
		}
		List<Reply> acknowledged = done.isEmpty() ? List.of() : change(this.acknowledge, done);
		if (others.isEmpty()) {
			return acknowledged;
		}
		Map<Settlement, Reply> replies = new IdentityHashMap<>(settleOthers(others));
		int next = 0;
		List<Reply> result = new ArrayList<>();
		for (Settlement settlement : settlements) {
			Reply reply = replies.get(settlement);
			result.add((reply != null) ? reply : acknowledged.get(next++));
		}
		return result;
	}

	private Map<Settlement, Reply> settleOthers(List<Settlement> settlements) {
		List<Settlement> needKeys = new ArrayList<>();
		Map<Settlement, Reply> replies = this.database.node().transaction((jdbc) -> {
			needKeys.clear();
			return settle(jdbc, settlements, needKeys);
		});
		replies.putAll(this.takenKeys.settle(needKeys));
		return replies;
	}

	/**
	 * Settles tasks in one transaction.
	 * @param needKeys takes the settlements that are left, since they need keys
	 */
	private Map<Settlement, Reply> settle(JdbcOperations jdbc, List<Settlement> settlements,
			List<Settlement> needKeys) {
		LockedRows rows = LockedRows.lock(this.database, jdbc,
				settlements.stream().map((settlement) -> settlement.task().id()).toList());
		long now = this.database.now(jdbc);
		Map<Settlement, Reply> replies = new IdentityHashMap<>();
		Map<String, List<Object[]>> writes = new HashMap<>();
		for (Settlement settlement : settlements) {
			TaskRow row = rows.locked().get(settlement.task().id());
			if (row == null) {
				replies.put(settlement, SettledRow.notLocked(settlement, rows.skipped().get(settlement.task().id())));
				continue;
			}
			SettledRow settled = SettledRow.of(settlement, row, now, this.database.dialect());
			if (settled.needsKey()) {
				needKeys.add(settlement);
				continue;
			}
			replies.put(settlement, settled.reply());
			if (settled.sql() != null) {
				writes.computeIfAbsent(settled.sql(), (sql) -> new ArrayList<>()).add(settled.parameters());
			}
		}
		writes.forEach((sql, values) -> jdbc.batchUpdate(this.database.sql(sql), values));
		return replies;
	}

	/**
	 * Settles a running task in the transaction of its body.
	 * @return {@code false} if the caller does not have the task
	 */
	boolean settleInTransaction(Settlement settlement) {
		JdbcOperations jdbc = this.database.requiredTransaction();
		TaskRef task = settlement.task();
		String running = " where id = ? and fence = ? and status = {running}";
		if (settlement instanceof Settlement.Acknowledge) {
			return jdbc.update(this.database.sql("delete from {task}" + running), task.id(), task.fence()) > 0;
		}
		return jdbc
			.query(this.database.sql("select " + TaskRow.COLUMNS + " from {task}" + running + " for update"),
					(rs, rowNum) -> TaskRow.read(rs, this.database.dialect()), task.id(), task.fence())
			.stream()
			.map((row) -> SettledRow.of(settlement, row, this.database.now(jdbc), this.database.dialect()))
			.anyMatch((settled) -> jdbc.update(this.database.sql(Objects.requireNonNull(settled.sql())),
					settled.parameters()) > 0);
	}

	/**
	 * Changes all tasks of the caller in one way.
	 * @param values the parameters of the assignments
	 */
	private List<Reply> change(Change change, List<TaskRef> tasks, @Nullable Object... values) {
		return this.database.dialect().isPostgres() ? changeAtOnce(change, tasks, values)
				: this.database.node().transaction((jdbc) -> lockAndChange(jdbc, change, tasks, values));
	}

	private List<Reply> changeAtOnce(Change change, List<TaskRef> tasks, @Nullable Object... values) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(tasks.stream().map(TaskRef::id).toArray(String[]::new));
		parameters.add(tasks.stream().map(TaskRef::fence).toArray(Long[]::new));
		parameters.addAll(Arrays.asList(values));
		Set<TaskRef> changed = this.database.node().single((jdbc) -> change.atOnce.query(jdbc, (rs) -> {
			Set<TaskRef> result = new HashSet<>();
			while (rs.next()) {
				result.add(new TaskRef(rs.getString(1), rs.getLong(2)));
			}
			return result;
		}, parameters.toArray()));
		List<String> others = tasks.stream().filter((task) -> !changed.contains(task)).map(TaskRef::id).toList();
		Map<String, TaskRow> rows = others.isEmpty() ? Map.of()
				: this.database.node().single((jdbc) -> LockedRows.read(this.database, jdbc, others));
		return tasks.stream()
			.map((task) -> changed.contains(task) ? Reply.DONE : change.notLocked(task, rows.get(task.id())))
			.toList();
	}

	private List<Reply> lockAndChange(JdbcOperations jdbc, Change change, List<TaskRef> tasks,
			@Nullable Object... values) {
		LockedRows rows = LockedRows.lock(this.database, jdbc, tasks.stream().map(TaskRef::id).toList());
		Set<String> changed = new HashSet<>();
		List<Reply> replies = new ArrayList<>();
		for (TaskRef task : tasks) {
			TaskRow row = rows.locked().get(task.id());
			boolean matches = row != null && change.matches(task, row);
			if (matches) {
				changed.add(task.id());
			}
			replies.add(matches ? Reply.DONE
					: (row != null) ? Reply.REFUSED : change.notLocked(task, rows.skipped().get(task.id())));
		}
		if (!changed.isEmpty()) {
			jdbc.update(this.database.sql(change.write + " where id" + Parameters.isOneOf(changed.size())),
					Parameters.and(changed, values));
		}
		return replies;
	}

	/**
	 * A change that is the same for all tasks of a call.
	 */
	private static final class Change {

		/**
		 * The statement of PostgreSQL. It finds the locked rows again by their places. A
		 * row that another transaction has changed meanwhile has another place, and stays
		 * as it is: the reply is {@link Reply#BUSY}. The subqueries around the lists hide
		 * their values from the planner, which would otherwise plan each statement anew.
		 */
		private static final String AT_ONCE = """
				with held as (
					select t.ctid as place from {task} t
						join unnest((select ?::text[]), (select ?::bigint[])) as given (id, fence)
							on t.id = given.id and t.fence = given.fence
					where t.owner is not null and t.status %s
					order by t.id for update of t skip locked
				), changed as (
					%s held where t.ctid = held.place returning t.id, t.fence
				)
				select id, fence from changed""";

		private final String write;

		private final PlannedStatement atOnce;

		/** Whether leased tasks change too, and not only running ones. */
		private final boolean pending;

		/** The reply for a task that does not exist. */
		private final Reply gone;

		/**
		 * Creates a change.
		 * @param assignments what an update assigns, {@code null} to delete the tasks
		 */
		Change(Database database, @Nullable String assignments, boolean pending, Reply gone) {
			this.write = (assignments != null) ? "update {task} set " + assignments : "delete from {task}";
			this.atOnce = new PlannedStatement(
					database.sql(AT_ONCE.formatted(pending ? "<> {dead}" : "= {running}", (assignments != null)
							? "update {task} t set " + assignments + " from" : "delete from {task} t using")));
			this.pending = pending;
			this.gone = gone;
		}

		boolean matches(TaskRef task, TaskRow row) {
			return row.isHeldAs(task) && (row.isRunning() || this.pending);
		}

		/**
		 * The reply for a task that this call has not locked.
		 */
		Reply notLocked(TaskRef task, @Nullable TaskRow row) {
			return (row == null) ? this.gone : matches(task, row) ? Reply.BUSY : Reply.REFUSED;
		}

	}

}
