package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.TaskRef;

/**
 * A statement that changes tasks that nodes have leased, on PostgreSQL.
 *
 * @param change changes tasks, and gives the ids and fences of the changed tasks
 * @param fences gives the fences of the tasks that exist, 0 if no node has the task in
 * the expected state
 * @param gone the reply for a task that does not exist
 */
record LeaseStatement(String change, String fences, Reply gone) {

	/**
	 * A condition that is true if its three parameters are 1. The condition makes
	 * PostgreSQL plan the statement again for each execution. A plan for a small table
	 * would scan the whole table, also when the table has become large. PostgreSQL reuses
	 * a generic plan, made without the parameters, unless this plan seems more expensive
	 * than a plan with the parameters. For the generic plan PostgreSQL expects a thousand
	 * rows from each of these functions. With the parameters PostgreSQL expects one row.
	 */
	static final String PLANNED_ANEW = "(select count(*) from generate_series(1, ?::int) a, generate_series(1, ?::int) b,"
			+ " generate_series(1, ?::int) c) > 0";

	/**
	 * Creates the statements. Whatever its statistics say, PostgreSQL must not scan a
	 * large table, and must not compare each id with each other id. The separate list of
	 * ids makes PostgreSQL use the index. The {@code case} hides a condition that seems
	 * to match few rows. {@link #PLANNED_ANEW} prevents the reuse of a plan for a table
	 * of another size. The subquery around the list hides the ids from the planner, since
	 * planning with the ids would take longer than the lookup.
	 * @param condition the condition on the state of a task
	 * @param waitsForDisk whether the commit waits for the disk
	 * @param change changes the tasks whose ids are in {@code held}
	 */
	static LeaseStatement of(TableName table, String condition, boolean waitsForDisk, String change, Reply gone) {
		String commit = waitsForDisk ? "" : " and (" + PostgresDialect.WITHOUT_DISK + ") is not null";
		return new LeaseStatement("""
				with held as (
					select t.id from %1$s t where t.id = any((select ?::text[])::text[])
						and (t.id, t.fence) in (select * from unnest(?::text[], ?::bigint[]))
						and case when t.owner is not null and t.%2$s then true end
						and %4$s
					order by t.id for update of t skip locked)
				%3$s
				""".formatted(table, condition, change, PLANNED_ANEW + commit),
				"select id, case when owner is not null and %2$s then fence else 0 end as fence from %1$s where id = any(?::text[])"
					.formatted(table, condition),
				gone);
	}

	/**
	 * The parameters of {@link #change}.
	 * @param values the parameters of the assignments
	 */
	static Object[] parameters(List<TaskRef> tasks, Object... values) {
		String[] ids = ids(tasks);
		List<Object> parameters = new ArrayList<>();
		parameters.add(ids);
		parameters.add(ids);
		parameters.add(tasks.stream().map(TaskRef::fence).toArray(Long[]::new));
		// The parameters of the condition PLANNED_ANEW.
		parameters.addAll(List.of(1, 1, 1));
		parameters.addAll(List.of(values));
		return parameters.toArray();
	}

	/**
	 * The parameter of {@link #fences}.
	 */
	static String[] ids(List<TaskRef> tasks) {
		return tasks.stream().map(TaskRef::id).toArray(String[]::new);
	}

}
