package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.TaskRef;

/**
 * Begins, renews and acknowledges with one statement each. Only of those tasks that it
 * did not change another one tells why.
 */
final class PostgresLeases extends Leases {

	private final Database database;

	private final Question begin;

	private final Question renew;

	private final Question acknowledge;

	PostgresLeases(Database database) {
		super(database);
		this.database = database;
		String lease = "next_at = least(%s + ? + ?, %d)".formatted(PostgresDialect.NOW, DelayedTaskStore.MAX_TIME);
		String update = "update %s t set %s where t.id = any(array(select id from held)) returning t.id, t.fence";
		this.begin = question("status <> " + Status.DEAD, update.formatted(database.table(),
				"deliveries = t.deliveries + case when t.status = %d then 1 else 0 end, pending_key = null, status = %d, %s"
					.formatted(Status.PENDING, Status.RUNNING, lease)),
				Reply.REFUSED);
		this.renew = question("status = " + Status.RUNNING, update.formatted(database.table(), lease), Reply.REFUSED);
		this.acknowledge = question("status = " + Status.RUNNING,
				"delete from %s t where t.id = any(array(select id from held)) returning t.id, t.fence"
					.formatted(database.table()),
				Reply.DONE);
	}

	/**
	 * Written so that PostgreSQL neither reads a large table as a whole nor compares each
	 * id with each, whatever its statistics say: the ids stand beside the pairs, which
	 * leads to the index, the case hides what seems to hold for few rows, and no plan
	 * outlives the size of the table that it was made for. To plan with the ids in sight
	 * would take longer than to look them up.
	 */
	private Question question(String condition, String change, Reply gone) {
		return new Question("""
				with held as (
					select t.id from %1$s t where t.id = any((select ?::text[])::text[])
						and (t.id, t.fence) in (select * from unnest(?::text[], ?::bigint[]))
						and case when t.owner is not null and t.%2$s then true end
						and %4$s
					order by t.id for update of t skip locked)
				%3$s
				""".formatted(this.database.table(), condition, change, PostgresDialect.PLANNED_ANEW),
				"select id, case when owner is not null and %2$s then fence else 0 end as fence from %1$s where id = any(?::text[])"
					.formatted(this.database.table(), condition),
				gone);
	}

	@Override
	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return ask(this.begin, tasks, this.database.offset().getAsLong(), Times.millis(lease));
	}

	@Override
	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return ask(this.renew, tasks, this.database.offset().getAsLong(), Times.millis(lease));
	}

	@Override
	List<Reply> acknowledge(List<TaskRef> tasks) {
		return ask(this.acknowledge, tasks);
	}

	private List<Reply> ask(Question question, List<TaskRef> tasks, Object... more) {
		String[] ids = ids(tasks);
		List<Object> parameters = new ArrayList<>();
		parameters.add(ids);
		parameters.add(ids);
		parameters.add(tasks.stream().map(TaskRef::fence).toArray(Long[]::new));
		parameters.addAll(List.of(1, 1, 1));
		parameters.addAll(List.of(more));
		Set<TaskRef> changed = this.database.engine()
			.single((jdbc) -> new HashSet<>(jdbc.query(question.change(),
					(rs, rowNum) -> new TaskRef(rs.getString("id"), rs.getLong("fence")), parameters.toArray())));
		List<TaskRef> others = tasks.stream().filter((task) -> !changed.contains(task)).toList();
		Map<String, Long> fences = others.isEmpty() ? Map.of() : fences(question, others);
		return tasks.stream().map((task) -> {
			if (changed.contains(task)) {
				return Reply.DONE;
			}
			Long fence = fences.get(task.id());
			if (fence == null) {
				return question.gone();
			}
			return (fence == task.fence()) ? Reply.BUSY : Reply.REFUSED;
		}).toList();
	}

	/**
	 * The fences of those tasks that are there. A task that was not changed, though the
	 * caller seems to have it, was locked, or has changed just now: in either case the
	 * next reply is right.
	 */
	private Map<String, Long> fences(Question question, List<TaskRef> tasks) {
		return this.database.engine().single((jdbc) -> {
			Map<String, Long> fences = new HashMap<>();
			jdbc.query(question.others(), (rs) -> {
				fences.put(rs.getString("id"), rs.getLong("fence"));
			}, (Object) ids(tasks));
			return fences;
		});
	}

	private static String[] ids(List<TaskRef> tasks) {
		return tasks.stream().map(TaskRef::id).toArray(String[]::new);
	}

	/**
	 * What is to be done with tasks.
	 *
	 * @param change changes them, and gives the ids of those that it did
	 * @param others gives the fences of those that are there, 0 if nobody has them
	 * @param gone the reply for those that are not there
	 */
	private record Question(String change, String others, Reply gone) {
	}

}
