package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.jdbc.Database.Access;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * What nodes do with the tasks that they have leased. Begin, renew and acknowledge change
 * all tasks of a call in one way, which takes PostgreSQL one statement. The other
 * databases lock the rows first.
 */
final class LeasedTasks {

	private static final String RUNNING = "id = ? and fence = ? and status = {running}";

	/**
	 * The statement of PostgreSQL, which gives the tasks that stay as they are. It finds
	 * the locked rows again by their places. The subqueries around the lists hide their
	 * values from the planner, which would otherwise plan each statement anew.
	 */
	private static final String AT_ONCE = """
			with given as (
				select * from unnest((select ?::text[]), (select ?::bigint[])) as given (id, fence)
			), held as (
				select t.ctid as place from {task} t join given on t.id = given.id and t.fence = given.fence
				where owner is not null and status %s for update of t skip locked
			), changed as (
				%s held where t.ctid = held.place returning t.id, t.fence
			)
			select id, fence from given where (id, fence) not in (select id, fence from changed)""";

	private final Database database;

	private final Settlements settlements;

	// In MySQL an assignment sees the new values of the columns to its left.
	private final Change begin = update("<> {dead}", """
			deliveries = deliveries + case when status = {pending} then 1 else 0 end,
			held_key = case when schedule is null then null else held_key end, first_at = null,
			status = {running}, next_at = least({now} + ?, {max})""");

	private final Change renew = update("= {running}", "next_at = least({now} + ?, {max})");

	private final Change acknowledge = change("= {running}", "delete from {task}", "delete from {task} t using",
			Reply.DONE);

	LeasedTasks(Database database, Settlements settlements) {
		this.database = database;
		this.settlements = settlements;
	}

	private static Change update(String status, String assignments) {
		return change(status, "update {task} set " + assignments, "update {task} t set " + assignments + " from",
				Reply.REFUSED);
	}

	private static Change change(String status, String write, String writeHeld, Reply gone) {
		return new Change("{task} where id {in} and owner is not null and status " + status + " order by id",
				write + " where id {in}", new Statements.Planned(AT_ONCE.formatted(status, writeHeld)), gone);
	}

	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(this.begin, tasks, this.database.statements().givenTime(), Session.millis(lease));
	}

	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(this.renew, tasks, this.database.statements().givenTime(), Session.millis(lease));
	}

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
		Iterator<Reply> ofDone = acknowledged.iterator();
		Iterator<Reply> ofOthers = this.settlements.settle(others).iterator();
		return settlements.stream()
			.map((settlement) -> ((settlement instanceof Settlement.Acknowledge) ? ofDone : ofOthers).next())
			.toList();
	}

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
	 * Changes tasks. A task that is still the caller's, and did not change, was locked.
	 */
	private List<Reply> change(Change change, List<TaskRef> tasks, @Nullable Object... values) {
		Access node = this.database.node();
		if (change == this.acknowledge && tasks.size() == 1 && this.database.statements().isTimeGiven()
				&& node.single((session) -> acknowledge(session, tasks.get(0)))) {
			// One thread runs all tasks, and a lock first would double its time.
			return List.of(Reply.DONE);
		}
		Set<TaskRef> left = this.database.dialect().isPostgres()
				? node.single((session) -> changeAtOnce(session, change, tasks, values))
				: node.transaction((session) -> lockAndChange(session, change, tasks, values));
		if (left.isEmpty()) {
			return Collections.nCopies(tasks.size(), Reply.DONE);
		}
		Map<String, TaskRow> rows = node.single((session) -> session.read(left.stream().map(TaskRef::id).toList()));
		return tasks.stream().map((task) -> {
			TaskRow row = rows.get(task.id());
			boolean fits = row != null && row.isHeldAs(task) && (row.status == TaskRow.RUNNING || change == this.begin);
			return !left.contains(task) ? Reply.DONE
					: (row == null) ? change.gone() : fits ? Reply.BUSY : Reply.REFUSED;
		}).toList();
	}

	private static Set<TaskRef> changeAtOnce(Session session, Change change, List<TaskRef> tasks,
			@Nullable Object... values) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(tasks.stream().map(TaskRef::id).toArray(String[]::new));
		parameters.add(tasks.stream().map(TaskRef::fence).toArray(Long[]::new));
		parameters.addAll(Arrays.asList(values));
		return change.atOnce().query(session, (rs) -> {
			Set<TaskRef> left = new HashSet<>();
			while (rs.next()) {
				left.add(new TaskRef(rs.getString(1), rs.getLong(2)));
			}
			return left;
		}, parameters.toArray());
	}

	private static Set<TaskRef> lockAndChange(Session session, Change change, List<TaskRef> tasks,
			@Nullable Object... values) {
		List<String> ids = tasks.stream().map(TaskRef::id).distinct().sorted().toList();
		Set<TaskRef> locked = new HashSet<>(
				session.query(session.dialect().lockFirst("id, fence", change.lock(), Session.padded(ids.size())),
						(rs, rowNum) -> new TaskRef(rs.getString(1), rs.getLong(2)), ids));
		Set<TaskRef> left = new HashSet<>(tasks);
		left.removeAll(locked);
		locked.retainAll(tasks);
		if (!locked.isEmpty()) {
			List<@Nullable Object> parameters = new ArrayList<>(Arrays.asList(values));
			parameters.add(locked.stream().map(TaskRef::id).toList());
			session.update(change.write(), parameters.toArray());
		}
		return left;
	}

	/**
	 * A change that is the same for all tasks of a call.
	 *
	 * @param gone the reply for a task that does not exist
	 */
	private record Change(String lock, String write, Statements.Planned atOnce, Reply gone) {

	}

}
