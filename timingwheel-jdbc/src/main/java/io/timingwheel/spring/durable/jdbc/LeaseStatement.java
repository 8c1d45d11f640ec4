package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.TaskRef;

/**
 * A statement that changes tasks that nodes have leased, on PostgreSQL. Thread-safe.
 */
final class LeaseStatement {

	private final String change;

	private final String fences;

	private final Reply gone;

	private final AtomicLong tableSize;

	/**
	 * Creates the statements. Whatever its statistics say, PostgreSQL must not scan a
	 * large table, and must not compare each id with each other id. The separate list of
	 * ids makes PostgreSQL use the index. The {@code case} hides a condition that seems
	 * to match few rows. In a {@code case}, PostgreSQL also looks up each id and fence in
	 * a hash table, and does not plan a join for as few ids as it expects. The subqueries
	 * around the lists hide the lists from the planner. Otherwise PostgreSQL would plan
	 * the statement for each list, which can take longer than the lookups.
	 *
	 * <p>
	 * The locked rows are changed by their places in the table ({@code ctid}), which
	 * saves a second search in the index for each. A row that another transaction has
	 * changed since the statement began has another place by then, and stays as it is.
	 * The caller then asks again.
	 *
	 * <p>
	 * The first row of the result has the number of changed tasks. The tasks follow only
	 * if others were not changed. So the usual result is one row.
	 * @param tableSize the size of the table in bytes, as the latest statement saw it
	 * @param condition the condition on the state of a task
	 * @param waitsForDisk whether the commit waits for the disk
	 * @param change changes the tasks that it gets as {@code t}, without a condition
	 * @param gone the reply for a task that does not exist
	 */
	LeaseStatement(TableName table, AtomicLong tableSize, String condition, boolean waitsForDisk, String change,
			Reply gone) {
		String commit = waitsForDisk ? "" : " and (" + PostgresDialect.WITHOUT_DISK + ") is not null";
		this.change = """
				with given as (select ?::text[] as ids, ?::bigint[] as fences), held as (
					select t.ctid as place from %1$s t where t.id = any((select ids from given)::text[])
						and case when t.owner is not null and t.%2$s and (t.id, t.fence) in (
							select * from unnest((select ids from given), (select fences from given))) then true end%4$s
					order by t.id for update of t skip locked),
				changed as (
					%3$s where t.ctid = any(array(select place from held)) returning t.id, t.fence)
				select null as id, count(*) as fence, %5$s from changed
				union all
				select id, fence, 0 from changed
					where (select count(*) from changed) < (select cardinality(ids) from given)
				""".formatted(table, condition, change, commit, SizedStatements.size(table));
		this.fences = "select id, case when owner is not null and %2$s then fence else 0 end as fence from %1$s where id = any(?::text[])"
			.formatted(table, condition);
		this.gone = gone;
		this.tableSize = tableSize;
	}

	/**
	 * The text that changes tasks, and gives what {@link #read} reads.
	 */
	String change() {
		return this.change;
	}

	/**
	 * The parameters of {@link #change}.
	 * @param values the parameters of the assignments
	 */
	static Object[] parameters(List<TaskRef> tasks, Object... values) {
		List<Object> parameters = new ArrayList<>();
		parameters.add(ids(tasks));
		parameters.add(tasks.stream().map(TaskRef::fence).toArray(Long[]::new));
		parameters.addAll(List.of(values));
		return parameters.toArray();
	}

	/**
	 * Reads which tasks were changed.
	 * @param tasks the tasks of the request
	 * @return the tasks that were changed
	 */
	Collection<TaskRef> read(ResultSet rs, List<TaskRef> tasks) throws SQLException {
		rs.next();
		this.tableSize.set(rs.getLong(3));
		if (rs.getLong(2) == tasks.size()) {
			return tasks;
		}
		Set<TaskRef> changed = new HashSet<>();
		while (rs.next()) {
			changed.add(new TaskRef(rs.getString(1), rs.getLong(2)));
		}
		return changed;
	}

	/**
	 * The text that gives the fences of the tasks that exist, 0 if no node has the task
	 * in the expected state.
	 */
	String fences() {
		return this.fences;
	}

	/**
	 * The parameter of {@link #fences}.
	 */
	static String[] ids(List<TaskRef> tasks) {
		return tasks.stream().map(TaskRef::id).toArray(String[]::new);
	}

	/**
	 * The reply for a task that does not exist.
	 */
	Reply gone() {
		return this.gone;
	}

}
