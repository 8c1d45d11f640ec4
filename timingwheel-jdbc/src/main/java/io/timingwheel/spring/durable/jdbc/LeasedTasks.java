package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * What nodes do with the tasks that they have leased: begin, renew, settle. Each call
 * locks the rows, decides, and writes. The usual calls change all tasks in one way, which
 * takes PostgreSQL one statement. {@link Settlements} has the others.
 */
final class LeasedTasks {

	private static final String RUNNING = "id = ? and fence = ? and status = {running}";

	private final Database database;

	private final Settlements settlements;

	private final Change begin;

	private final Change renew;

	private final Change acknowledge;

	LeasedTasks(Database database) {
		this.database = database;
		this.settlements = new Settlements(database);
		// In MySQL an assignment sees the new values of the columns to its left.
		this.begin = new Change("""
				deliveries = deliveries + case when status = {pending} then 1 else 0 end,
				held_key = case when schedule is null then null else held_key end, first_at = null,
				status = {running}, next_at = least({now} + ?, {max})""", true, Reply.REFUSED);
		this.renew = new Change("next_at = least({now} + ?, {max})", false, Reply.REFUSED);
		this.acknowledge = new Change(null, false, Reply.DONE);
	}

	/**
	 * Begin: leased tasks run, and those that run once give up their keys.
	 */
	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(this.begin, tasks, this.database.statements().givenTime(), Session.millis(lease));
	}

	/**
	 * Renew: the leases of running tasks last from now.
	 */
	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(this.renew, tasks, this.database.statements().givenTime(), Session.millis(lease));
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
		Map<Settlement, Reply> replies = this.settlements.settle(others);
		int next = 0;
		List<Reply> result = new ArrayList<>();
		for (Settlement settlement : settlements) {
			Reply reply = replies.get(settlement);
			result.add((reply != null) ? reply : acknowledged.get(next++));
		}
		return result;
	}

	/**
	 * Settles a running task in the transaction of its body.
	 * @return {@code false} if the caller does not have the task
	 */
	boolean settleInTransaction(Settlement settlement) {
		Session session = this.database.requiredTransaction();
		TaskRef task = settlement.task();
		if (settlement instanceof Settlement.Acknowledge) {
			return acknowledge(session, task);
		}
		List<TaskRow> rows = session.rows("select {columns} from {task} where " + RUNNING + " for update", task.id(),
				task.fence());
		rows.forEach((row) -> Settlements.decide(settlement, row, session.now(), session.dialect()));
		session.write(rows);
		return !rows.isEmpty();
	}

	private static boolean acknowledge(Session session, TaskRef task) {
		return session.update("delete from {task} where " + RUNNING, task.id(), task.fence()) > 0;
	}

	/**
	 * Changes all tasks of the caller in one way.
	 * @param values the parameters of the assignments
	 */
	private List<Reply> change(Change change, List<TaskRef> tasks, @Nullable Object... values) {
		if (change == this.acknowledge && tasks.size() == 1 && this.database.statements().isTimeGiven()
				&& this.database.node().single((session) -> acknowledge(session, tasks.get(0)))) {
			// One thread runs all tasks, and a lock first would double its time.
			return List.of(Reply.DONE);
		}
		Set<TaskRef> left = this.database.dialect().isPostgres()
				? this.database.node().single((session) -> changeAtOnce(session, change, tasks, values))
				: this.database.node().transaction((session) -> lockAndChange(session, change, tasks, values));
		if (left.isEmpty()) {
			return Collections.nCopies(tasks.size(), Reply.DONE);
		}
		Map<String, TaskRow> rows = this.database.node()
			.single((session) -> session.read(left.stream().map(TaskRef::id).toList()));
		return tasks.stream()
			.map((task) -> left.contains(task) ? change.notChanged(task, rows.get(task.id())) : Reply.DONE)
			.toList();
	}

	private static Set<TaskRef> changeAtOnce(Session session, Change change, List<TaskRef> tasks,
			@Nullable Object... values) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(tasks.stream().map(TaskRef::id).toArray(String[]::new));
		parameters.add(tasks.stream().map(TaskRef::fence).toArray(Long[]::new));
		parameters.addAll(Arrays.asList(values));
		return change.atOnce.query(session, (rs) -> {
			Set<TaskRef> left = new HashSet<>();
			while (rs.next()) {
				left.add(new TaskRef(rs.getString(1), rs.getLong(2)));
			}
			return left;
		}, parameters.toArray());
	}

	private static Set<TaskRef> lockAndChange(Session session, Change change, List<TaskRef> tasks,
			@Nullable Object... values) {
		Set<String> ids = new TreeSet<>();
		tasks.forEach((task) -> ids.add(task.id()));
		Set<TaskRef> locked = new HashSet<>(
				session.query(session.dialect().lockFirst("id, fence", change.lock, Session.padded(ids.size())),
						(rs, rowNum) -> new TaskRef(rs.getString(1), rs.getLong(2)), ids));
		Set<TaskRef> left = new HashSet<>(tasks);
		left.removeAll(locked);
		locked.retainAll(tasks);
		if (!locked.isEmpty()) {
			List<@Nullable Object> parameters = new ArrayList<>(Arrays.asList(values));
			parameters.add(locked.stream().map(TaskRef::id).toList());
			session.update(change.write, parameters.toArray());
		}
		return left;
	}

	/**
	 * A change that is the same for all tasks of a call.
	 */
	private static final class Change {

		/**
		 * The statement of PostgreSQL, which gives the tasks that stay as they are. It
		 * finds the locked rows again by their places. A row that another transaction has
		 * changed meanwhile has another place, and stays: the reply is
		 * {@link Reply#BUSY}. The subqueries around the lists hide their values from the
		 * planner, which would otherwise plan each statement anew.
		 */
		private static final String AT_ONCE = """
				with given as (
					select * from unnest((select ?::text[]), (select ?::bigint[])) as given (id, fence)
				), held as (
					select t.ctid as place from {task} t join given on t.id = given.id and t.fence = given.fence
					where %s
					order by t.id for update of t skip locked
				), changed as (
					%s held where t.ctid = held.place returning t.id, t.fence
				)
				select id, fence from given where (id, fence) not in (select id, fence from changed)""";

		/** Which rows the call locks: a short text, since H2 parses it each time. */
		private final String lock;

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
		Change(@Nullable String assignments, boolean pending, Reply gone) {
			boolean deletes = assignments == null;
			String changes = "owner is not null and status " + (pending ? "<> {dead}" : "= {running}");
			this.lock = "{task} where id {in} and " + changes + " order by id";
			this.write = (deletes ? "delete from {task}" : "update {task} set " + assignments) + " where id {in}";
			this.atOnce = new PlannedStatement(AT_ONCE.formatted(changes,
					deletes ? "delete from {task} t using" : "update {task} t set " + assignments + " from"));
			this.pending = pending;
			this.gone = gone;
		}

		boolean matches(TaskRef task, TaskRow row) {
			return row.isHeldAs(task) && (row.status == TaskRow.RUNNING || this.pending);
		}

		/**
		 * The reply for a task that this call has not changed. A task that matches was
		 * locked by another transaction.
		 */
		Reply notChanged(TaskRef task, @Nullable TaskRow row) {
			return (row == null) ? this.gone : matches(task, row) ? Reply.BUSY : Reply.REFUSED;
		}

	}

}
