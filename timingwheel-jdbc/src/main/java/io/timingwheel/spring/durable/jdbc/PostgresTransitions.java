package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ArgumentPreparedStatementSetter;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The most frequent transitions on PostgreSQL: one statement each.
 */
final class PostgresTransitions extends Transitions {

	private static final long MAX_TIME = DelayedTaskStore.MAX_TIME;

	/**
	 * A condition that is true if its three parameters are 1. The condition makes
	 * PostgreSQL plan the statement again for each execution. A plan from the time when
	 * the table was small would scan the whole table when the table is large. PostgreSQL
	 * reuses a generic plan, made without the parameters, unless the generic plan seems
	 * more expensive. For the generic plan PostgreSQL expects a thousand rows from each
	 * of these functions. With the parameters it expects one row.
	 */
	static final String PLANNED_ANEW = "(select count(*) from generate_series(1, ?::int) a, generate_series(1, ?::int) b,"
			+ " generate_series(1, ?::int) c) > 0";

	/**
	 * Lets the commit of a statement return before the disk has it. A crash of the server
	 * may then undo the statement. This is for acknowledgements, after which the task
	 * runs again, and for leases of tasks that have not begun, which the store then
	 * refuses to begin. A begin has to wait: a cancel after the crash could succeed
	 * although the body has run. A renewal has to wait too: the node trusts its new lease
	 * for longer than the store would.
	 */
	static final String WITHOUT_DISK = "select set_config('synchronous_commit', 'off', true)";

	/**
	 * How long a statement with the tasks of several callers waits for a lock, in
	 * milliseconds.
	 */
	private static final int SHARED_LOCK_MILLIS = 20;

	private final Database database;

	private final Dialect dialect;

	private final EnqueueStatements enqueueOne;

	private final EnqueueStatements enqueueMany;

	private final EnqueueStatements shareOne;

	private final EnqueueStatements shareMany;

	private final ClaimStatement claim;

	private final LimitedClaimStatement claimLimited;

	private final ClaimFloors floors;

	private final LeaseStatement begin;

	private final LeaseStatement renew;

	private final LeaseStatement acknowledge;

	PostgresTransitions(Database database) {
		super(database);
		this.database = database;
		this.dialect = database.dialect();
		TableName table = database.table();
		String now = PostgresDialect.clock(database.time());
		String one = "(select ?::text as id, ?::text as name, ?::text as task_key, ?::text as payload,"
				+ " ?::text as traceparent, ?::boolean as absolute,"
				+ " ?::bigint as millis, ?::bigint as look_ahead, ?::bigint as lease, ?::text as owner) as one";
		String many = "unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[], ?::bigint[], ?::bigint[],"
				+ " ?::bigint[], ?::text[]) as many (id, name, task_key, payload, traceparent, absolute, millis,"
				+ " look_ahead, lease, owner)";
		this.enqueueOne = EnqueueStatements.of(table, now, "", one);
		this.enqueueMany = EnqueueStatements.of(table, now, "", many);
		String timeout = ", set_config('lock_timeout', '%dms', true)".formatted(SHARED_LOCK_MILLIS);
		this.shareOne = EnqueueStatements.of(table, now, timeout, one);
		this.shareMany = EnqueueStatements.of(table, now, timeout, many);
		// With a given clock there is no time after which a task would be late.
		this.floors = database.time().isGiven() ? new ClaimFloors(() -> 0, Duration.ZERO)
				: new ClaimFloors(System::nanoTime, ClaimFloors.SWEEP);
		this.claim = new ClaimStatement(database, "", """
				wanted as (select * from unnest((select ?::text[]), (select ?::int[]), (select ?::int[]),
					(select ?::bigint[])) as w (name, due, soon, since))""", "");
		this.claimLimited = new LimitedClaimStatement(database, this.floors);
		String lease = "next_at = least(%s + ? + ?, %d)".formatted(now, MAX_TIME);
		String update = "update %s t set %s where t.id = any(array(select id from held)) returning t.id, t.fence";
		this.begin = LeaseStatement.of(table, "status <> " + TaskRow.DEAD, true, update.formatted(table,
				("deliveries = t.deliveries + case when t.status = %d or t.suspect = 1 then 1 else 0 end,"
						+ " alone = greatest(t.alone, t.suspect), suspect = 0, pending_key = null, status = %d, %s")
					.formatted(TaskRow.PENDING, TaskRow.RUNNING, lease)),
				Reply.REFUSED);
		this.renew = LeaseStatement.of(table, "status = " + TaskRow.RUNNING, true, update.formatted(table, lease),
				Reply.REFUSED);
		this.acknowledge = LeaseStatement.of(table, "status = " + TaskRow.RUNNING, false,
				"delete from %s t where t.id = any(array(select id from held)) returning t.id, t.fence"
					.formatted(table),
				Reply.DONE);
	}

	@Override
	boolean isOneStatement(List<NewTask> batch) {
		return batch.size() == 1 || batch.stream().allMatch(NewRow::overwrites);
	}

	@Override
	Map<String, Enqueued> storeBatch(JdbcOperations jdbc, List<NewTask> batch) {
		Map<String, Enqueued> stored = new HashMap<>();
		List<NewTask> others = batch.stream().filter((task) -> !NewRow.overwrites(task)).toList();
		List<NewTask> overwriting = others.isEmpty() ? batch : batch.stream().filter(NewRow::overwrites).toList();
		store(jdbc, (statements) -> statements.overwriting(overwriting), overwriting, stored);
		store(jdbc, EnqueueStatements::unlessPending, others.stream().filter((task) -> task.maxWait() == null).toList(),
				stored);
		for (NewTask task : others) {
			if (task.maxWait() != null) {
				insertUnlessPending(jdbc, task).ifPresent((enqueued) -> stored.put(task.id(), enqueued));
			}
		}
		return stored;
	}

	/**
	 * Stores a task with a longest wait, unless its key is pending. What the row of the
	 * pending task becomes depends on that row, which is locked first.
	 */
	private Optional<Enqueued> insertUnlessPending(JdbcOperations jdbc, NewTask task) {
		NewRow row = NewRow.of(task, this.database.now(jdbc), null);
		int inserted = jdbc.update(
				NewRow.insert(this.database.table())
						+ " on conflict (name, pending_key) where pending_key is not null do nothing",
				row.insertValues(this.dialect));
		return (inserted != 0) ? Optional.of(row.inserted()) : Optional.empty();
	}

	private void store(JdbcOperations jdbc, Function<EnqueueStatements, String> statement, List<NewTask> tasks,
			Map<String, Enqueued> stored) {
		if (!tasks.isEmpty()) {
			store(jdbc, statement.apply((tasks.size() == 1) ? this.enqueueOne : this.enqueueMany), tasks, stored);
		}
	}

	/**
	 * A statement with the tasks of several callers waits only briefly for a lock.
	 */
	@Override
	boolean canShare(NewTask task) {
		return NewRow.overwrites(task);
	}

	@Override
	Map<String, Enqueued> storeShared(JdbcOperations jdbc, List<NewTask> batch) {
		Map<String, Enqueued> stored = new HashMap<>();
		store(jdbc, ((batch.size() == 1) ? this.shareOne : this.shareMany).overwriting(batch), batch, stored);
		return stored;
	}

	private void store(JdbcOperations jdbc, String sql, List<NewTask> tasks, Map<String, Enqueued> stored) {
		Map<String, NewTask> byId = new HashMap<>();
		tasks.forEach((task) -> byId.put(task.id(), task));
		Map<String, Long> earliest = new HashMap<>();
		jdbc.query(sql, (rs) -> {
			Enqueued task = stored(rs);
			stored.put(task.id(), task);
			earliest.merge(Objects.requireNonNull(byId.get(task.id())).name(), task.dueAt(), Math::min);
		}, this.database.time().parameter(), column(tasks, String[]::new, NewTask::id),
				column(tasks, String[]::new, (task) -> this.dialect.text(task.name())),
				column(tasks, String[]::new, (task) -> this.dialect.nullableText(task.key())),
				column(tasks, String[]::new, NewTask::payload), column(tasks, String[]::new, NewTask::traceparent),
				column(tasks, Boolean[]::new, (task) -> task.due().absolute()),
				column(tasks, Long[]::new, (task) -> Math.min(task.due().millis(), MAX_TIME)),
				column(tasks, Long[]::new, (task) -> lookAhead(task.lease())),
				column(tasks, Long[]::new, (task) -> lease(task.lease())),
				column(tasks, String[]::new, (task) -> LeaseTimes.owner(task.lease())));
		earliest.forEach(this::claimable);
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
		return (lease != null) ? LeaseTimes.millis(lease.lookAhead()) : -MAX_TIME * 2;
	}

	private static long lease(@Nullable LeaseOffer lease) {
		return (lease != null) ? LeaseTimes.millis(lease.lease()) : 0;
	}

	/**
	 * Reads a task that was stored. A task that replaced another has a higher fence than
	 * the first.
	 */
	private static Enqueued stored(ResultSet rs) throws SQLException {
		long fence = rs.getLong("fence");
		Outcome outcome = (fence == NewRow.FIRST_FENCE) ? Outcome.INSERTED : Outcome.REPLACED;
		return new Enqueued(outcome, rs.getString("id"), fence, rs.getLong("due_at"), rs.getLong("created_at"),
				rs.getBoolean("leased"));
	}

	@Override
	Claimed claim(ClaimRequest request) {
		List<String> names = List.copyOf(request.names().keySet());
		List<Limit> limits = names.stream().map((name) -> Objects.requireNonNull(request.names().get(name))).toList();
		return this.database.store().single((jdbc) -> {
			Search[] search = new Search[1];
			// The parameters are set once there is a connection, for which the search
			// does not wait then.
			return jdbc.query(this.claim.text(), (ps) -> {
				search[0] = this.floors.search(names);
				new ArgumentPreparedStatementSetter(parameters(request, names, limits, search[0])).setValues(ps);
			}, (ResultSetExtractor<Claimed>) (rs) -> claimed(rs, request, search[0]));
		});
	}

	private Object[] parameters(ClaimRequest request, List<String> names, List<Limit> limits, Search search) {
		return new Object[] { this.database.time().parameter(), LeaseTimes.millis(request.lookAhead()),
				names.stream().map(this.dialect::text).toArray(String[]::new),
				limits.stream().map(Limit::due).toArray(Integer[]::new),
				limits.stream().map(Limit::soon).toArray(Integer[]::new), search.floors().toArray(Long[]::new),
				request.suspect(), request.limit(), request.owner(), LeaseTimes.millis(request.lease()),
				request.maxPayloadBytes(), request.limit() };
	}

	private Claimed claimed(ResultSet rs, ClaimRequest request, Search search) throws SQLException {
		ClaimReply reply = this.claim.read(rs, false);
		if (reply.tasks().stream().noneMatch((row) -> row.task().suspect())) {
			// A claim that takes a suspect does not search for other tasks.
			this.floors.searched(search, request, reply.found(), reply.now());
		}
		return ClaimedRow.claim(reply.tasks(), reply.now(), reply.nextAt());
	}

	@Override
	CountedClaim claimLimited(ClaimRequest request, String name, int room, int concurrent) {
		return this.claimLimited.claim(request, name, room, concurrent);
	}

	/**
	 * In a transaction the task becomes claimable when the transaction commits, perhaps
	 * after a claim that did not see the task.
	 */
	@Override
	void claimable(String name, long dueAt) {
		this.floors.claimable(name, dueAt);
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					PostgresTransitions.this.floors.claimable(name, dueAt);
				}

			});
		}
	}

	@Override
	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(this.begin, tasks, this.database.time().parameter(), LeaseTimes.millis(lease));
	}

	@Override
	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(this.renew, tasks, this.database.time().parameter(), LeaseTimes.millis(lease));
	}

	@Override
	List<Reply> acknowledge(List<TaskRef> tasks) {
		return change(this.acknowledge, tasks);
	}

	private List<Reply> change(LeaseStatement statement, List<TaskRef> tasks, Object... values) {
		String[] ids = ids(tasks);
		List<Object> parameters = new ArrayList<>();
		parameters.add(ids);
		parameters.add(ids);
		parameters.add(tasks.stream().map(TaskRef::fence).toArray(Long[]::new));
		parameters.addAll(List.of(1, 1, 1));
		parameters.addAll(List.of(values));
		Set<TaskRef> changed = this.database.store()
			.single((jdbc) -> new HashSet<>(jdbc.query(statement.change(),
					(rs, rowNum) -> new TaskRef(rs.getString("id"), rs.getLong("fence")), parameters.toArray())));
		List<TaskRef> others = tasks.stream().filter((task) -> !changed.contains(task)).toList();
		Map<String, Long> fences = others.isEmpty() ? Map.of() : fences(statement, others);
		return tasks.stream()
			.map((task) -> changed.contains(task) ? Reply.DONE
					: LockedTasks.replyForNotLocked(task, fences.get(task.id()), statement.gone()))
			.toList();
	}

	/**
	 * The fences of tasks that were not changed. If a fence is the fence of the caller,
	 * the task was locked or has changed just now. The caller asks again, and the next
	 * reply is right.
	 */
	private Map<String, Long> fences(LeaseStatement statement, List<TaskRef> tasks) {
		return this.database.store().single((jdbc) -> {
			Map<String, Long> fences = new HashMap<>();
			jdbc.query(statement.fences(), (rs) -> {
				fences.put(rs.getString("id"), rs.getLong("fence"));
			}, (Object) ids(tasks));
			return fences;
		});
	}

	private static String[] ids(List<TaskRef> tasks) {
		return tasks.stream().map(TaskRef::id).toArray(String[]::new);
	}

	/**
	 * The statements that store tasks and return the tasks that were stored. The first
	 * parameter is the offset of the clock.
	 *
	 * @param insert stores each task; no task has a key
	 * @param orReplace stores each task in place of the pending task with its key
	 * @param unlessPending stores each task whose key is not pending
	 */
	private record EnqueueStatements(String insert, String orReplace, String unlessPending) {

		/**
		 * Creates the statements.
		 * @param now what the offset is added to
		 * @param setting changes a setting for the transaction; empty for none
		 * @param source gives id, name, task_key, payload, traceparent, absolute, millis,
		 * look_ahead, lease and owner of each task
		 */
		static EnqueueStatements of(TableName table, String now, String setting, String source) {
			String insert = """
					with clock as (select %1$s + ? as now%7$s),
					task as (select *, least(case when absolute then 0 else now end + millis, %2$d) as due_at from clock, %3$s)
					insert into %4$s as t (id, name, task_key, pending_key, payload, traceparent, due_at, next_at, status,
						owner, fence, attempt, deliveries, lost_deliveries, created_at)
					select id, name, task_key, task_key, payload, traceparent, due_at,
						case when due_at <= now + look_ahead then least(greatest(due_at, now) + lease, %2$d) else due_at end, %5$d,
						case when due_at <= now + look_ahead then owner end, %6$d, 1, 0, 0, now
					from task"""
				.formatted(now, MAX_TIME, source, table, TaskRow.PENDING, NewRow.FIRST_FENCE, setting);
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
		 * The statement for tasks that are stored even if their keys are pending. If no
		 * task has a key, there can be no conflict, and an insert that is not prepared
		 * for a conflict takes less time.
		 */
		String overwriting(List<NewTask> tasks) {
			return tasks.stream().allMatch((task) -> task.key() == null) ? this.insert : this.orReplace;
		}

	}

	/**
	 * A change of leased tasks.
	 *
	 * @param change changes tasks, and gives the ids and fences of the changed tasks
	 * @param fences gives the fences of the tasks that exist, 0 if no node has the task
	 * in the expected state
	 * @param gone the reply for a task that does not exist
	 */
	private record LeaseStatement(String change, String fences, Reply gone) {

		/**
		 * Creates the statements. Whatever its statistics say, PostgreSQL must not scan a
		 * large table, and must not compare each id with each other id. The separate list
		 * of ids makes PostgreSQL use the index. The {@code case} hides a condition that
		 * seems to match few rows. {@link #PLANNED_ANEW} prevents the reuse of a plan for
		 * a table of another size. The subquery around the list hides the ids from the
		 * planner, since planning with the ids would take longer than the lookup.
		 * @param waitsForDisk whether the commit waits for the disk
		 */
		static LeaseStatement of(TableName table, String condition, boolean waitsForDisk, String change, Reply gone) {
			String commit = waitsForDisk ? "" : " and (" + WITHOUT_DISK + ") is not null";
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

	}

}
