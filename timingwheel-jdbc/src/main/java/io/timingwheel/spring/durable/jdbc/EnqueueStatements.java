package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import org.jspecify.annotations.Nullable;

/**
 * The statements that store tasks on PostgreSQL and return the tasks that were stored.
 *
 * @param insert stores each task; no task has a key
 * @param orReplace stores each task in place of the pending task with its key
 * @param unlessPending stores each task whose key is not pending
 */
record EnqueueStatements(String insert, String orReplace, String unlessPending) {

	private static final String ONE_TASK = "(select ?::text as id, ?::text as name, ?::text as task_key,"
			+ " ?::text as payload, ?::text as traceparent, ?::boolean as absolute,"
			+ " ?::bigint as millis, ?::bigint as look_ahead, ?::bigint as lease, ?::text as owner) as one";

	private static final String MANY_TASKS = "unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[],"
			+ " ?::bigint[], ?::bigint[], ?::bigint[], ?::text[]) as many (id, name, task_key, payload, traceparent,"
			+ " absolute, millis, look_ahead, lease, owner)";

	/**
	 * Creates the statements for one task.
	 * @param setting changes a setting for the transaction, after a comma; empty for none
	 */
	static EnqueueStatements forOne(Database database, String setting) {
		return of(database, setting, ONE_TASK);
	}

	/**
	 * Creates the statements for any number of tasks.
	 * @param setting changes a setting for the transaction, after a comma; empty for none
	 */
	static EnqueueStatements forMany(Database database, String setting) {
		return of(database, setting, MANY_TASKS);
	}

	private static EnqueueStatements of(Database database, String setting, String source) {
		String insert = """
				with clock as (select %1$s + ? as now%7$s),
				task as (select *, least(case when absolute then 0 else now end + millis, %2$d) as due_at from clock, %3$s)
				insert into %4$s as t (id, name, task_key, pending_key, payload, traceparent, due_at, next_at, status,
					owner, fence, attempt, deliveries, lost_deliveries, created_at)
				select id, name, task_key, task_key, payload, traceparent, due_at,
					case when due_at <= now + look_ahead then least(greatest(due_at, now) + lease, %2$d) else due_at end, %5$d,
					case when due_at <= now + look_ahead then owner end, %6$d, 1, 0, 0, now
				from task"""
			.formatted(PostgresDialect.clock(database.time()), DelayedTaskStore.MAX_TIME, source, database.table(),
					TaskRow.PENDING, NewRow.FIRST_FENCE, setting);
		String conflict = insert + "\non conflict (name, pending_key) where pending_key is not null do ";
		String returning = " returning id, fence, due_at, created_at, owner is not null as leased";
		return new EnqueueStatements(insert + returning,
				conflict + """
						update set
							id = excluded.id, payload = excluded.payload, traceparent = excluded.traceparent,
							due_at = excluded.due_at, first_at = case when t.deliveries = 0 then t.first_at end,
							next_at = excluded.next_at, owner = excluded.owner,
							fence = greatest(t.fence + 1, excluded.created_at * 1000), attempt = 1, deliveries = 0, lost_deliveries = 0,
							suspect = 0, alone = 0, error = null, created_at = excluded.created_at
						"""
						+ returning,
				conflict + "nothing" + returning);
	}

	/**
	 * The statement for tasks that are stored even if their keys are pending. If no task
	 * has a key, there can be no conflict. An insert without a clause for conflicts takes
	 * less time.
	 */
	String overwriting(List<NewTask> tasks) {
		return tasks.stream().allMatch((task) -> task.key() == null) ? this.insert : this.orReplace;
	}

	/**
	 * The parameters of each statement.
	 * @param tasks the tasks, one for a statement {@linkplain #forOne for one task}
	 */
	static Object[] parameters(List<NewTask> tasks, Database database) {
		Dialect dialect = database.dialect();
		return Parameters.of(database.time().parameter(), column(tasks, String[]::new, NewTask::id),
				column(tasks, String[]::new, (task) -> dialect.text(task.name())),
				column(tasks, String[]::new, (task) -> dialect.nullableText(task.key())),
				column(tasks, String[]::new, (task) -> dialect.payload(task.payload())),
				column(tasks, String[]::new, NewTask::traceparent),
				column(tasks, Boolean[]::new, (task) -> task.due().absolute()),
				column(tasks, Long[]::new, (task) -> Math.min(task.due().millis(), DelayedTaskStore.MAX_TIME)),
				column(tasks, Long[]::new, (task) -> lookAhead(task.lease())),
				column(tasks, Long[]::new, (task) -> lease(task.lease())),
				column(tasks, String[]::new, (task) -> LeaseTimes.owner(task.lease())));
	}

	/**
	 * The parameter for a column: a value for one task, and a list for many tasks. A
	 * value takes less time than a list with one element.
	 */
	private static @Nullable Object column(List<NewTask> tasks, IntFunction<@Nullable Object[]> array,
			Function<NewTask, @Nullable Object> value) {
		if (tasks.size() == 1) {
			return value.apply(tasks.get(0));
		}
		@Nullable Object[] values = array.apply(tasks.size());
		for (int i = 0; i < values.length; i++) {
			values[i] = value.apply(tasks.get(i));
		}
		return values;
	}

	private static long lookAhead(@Nullable LeaseOffer lease) {
		return (lease != null) ? LeaseTimes.millis(lease.lookAhead()) : -DelayedTaskStore.MAX_TIME * 2;
	}

	private static long lease(@Nullable LeaseOffer lease) {
		return (lease != null) ? LeaseTimes.millis(lease.lease()) : 0;
	}

	/**
	 * Reads a task that was stored. A task that replaced another has a higher fence than
	 * the fence of an inserted task.
	 */
	static Enqueued read(ResultSet rs) throws SQLException {
		long fence = rs.getLong("fence");
		Outcome outcome = (fence == NewRow.FIRST_FENCE) ? Outcome.INSERTED : Outcome.REPLACED;
		return new Enqueued(outcome, rs.getString("id"), fence, rs.getLong("due_at"), rs.getLong("created_at"),
				rs.getBoolean("leased"));
	}

}
