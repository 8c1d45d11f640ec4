package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.StoredSchedule;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;
import io.timingwheel.spring.durable.jdbc.CountedClaim.Places;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ArgumentPreparedStatementSetter;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.PreparedStatementCallback;
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

	/** How many tasks that are due soon a claim looks at, to see when a lease ends. */
	private static final int MAX_LOOK = 100;

	private static final int PAGE_BYTES = 8192;

	/**
	 * Lets the commit of a statement return before the disk has it. A crash of the server
	 * may then undo the statement. This is for acknowledgements, after which the task
	 * runs again, and for leases of tasks that have not begun, which the store then
	 * refuses to begin. A begin has to wait: a cancel after the crash could succeed
	 * although the body has run. A renewal has to wait too: the node trusts its new lease
	 * for longer than the store would.
	 */
	private static final String WITHOUT_DISK = "select set_config('synchronous_commit', 'off', true)";

	/**
	 * How long a statement with the tasks of several callers waits for a lock, in
	 * milliseconds.
	 */
	private static final int SHARED_LOCK_MILLIS = 20;

	/**
	 * How long a claim of a limited name waits for another claim of the name, in
	 * milliseconds.
	 */
	private static final int LIMIT_LOCK_MILLIS = 100;

	/** The setting with the limited name whose row the transaction has locked. */
	private static final String LOCKED_NAME = "timingwheel.locked_name";

	/** What a statement adds its first parameter to, to get the time. */
	private final String now;

	private final Database database;

	private final Dialect dialect;

	private final EnqueueStatements enqueueOne;

	private final EnqueueStatements enqueueMany;

	private final EnqueueStatements shareOne;

	private final EnqueueStatements shareMany;

	private final ClaimStatement claim;

	private final ClaimStatement claimLimited;

	private final ClaimFloors floors;

	private volatile long tableSize;

	private final LeaseStatement begin;

	private final LeaseStatement renew;

	private final LeaseStatement acknowledge;

	PostgresTransitions(Database database) {
		super(database);
		this.database = database;
		this.dialect = database.dialect();
		TableName table = database.table();
		this.now = PostgresDialect.clock(database.time());
		String one = "(select ?::text as id, ?::text as name, ?::text as task_key, ?::text as payload,"
				+ " ?::text as traceparent, ?::boolean as absolute,"
				+ " ?::bigint as millis, ?::bigint as look_ahead, ?::bigint as lease, ?::text as owner) as one";
		String many = "unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[], ?::bigint[], ?::bigint[],"
				+ " ?::bigint[], ?::text[]) as many (id, name, task_key, payload, traceparent, absolute, millis,"
				+ " look_ahead, lease, owner)";
		this.enqueueOne = EnqueueStatements.of(table, this.now, "", one);
		this.enqueueMany = EnqueueStatements.of(table, this.now, "", many);
		String timeout = ", set_config('lock_timeout', '%dms', true)".formatted(SHARED_LOCK_MILLIS);
		this.shareOne = EnqueueStatements.of(table, this.now, timeout, one);
		this.shareMany = EnqueueStatements.of(table, this.now, timeout, many);
		this.claim = new ClaimStatement("", claim(table, """
				wanted as (select * from unnest((select ?::text[]), (select ?::int[]), (select ?::int[]),
					(select ?::bigint[])) as w (name, due, soon, since))""", ""));
		this.claimLimited = new ClaimStatement(lockLimit(table), claim(table, wantedOfLimited(table), """
				, (select locked from places), (select missing from places), (select has_lost from places),
				(select free from places)"""));
		// With a given clock there is no time after which a task would be late.
		this.floors = database.time().isGiven() ? new ClaimFloors(() -> 0, Duration.ZERO)
				: new ClaimFloors(System::nanoTime, ClaimFloors.SWEEP);
		String lease = "next_at = least(%s + ? + ?, %d)".formatted(this.now, MAX_TIME);
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
		store(jdbc, EnqueueStatements::orReplace,
				others.isEmpty() ? batch : batch.stream().filter(NewRow::overwrites).toList(), stored);
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
		store(jdbc, ((batch.size() == 1) ? this.shareOne : this.shareMany).orReplace(), batch, stored);
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
	private static <T> @Nullable Object column(List<NewTask> tasks, IntFunction<T[]> array,
			Function<NewTask, @Nullable Object> value) {
		return (tasks.size() == 1) ? value.apply(tasks.get(0)) : tasks.stream().map(value).toArray(array);
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

	/**
	 * The statement that claims tasks. The statement is cheap if there are none. It reads
	 * the index once for each name from the time that {@link ClaimFloors} gives, and no
	 * tasks of other names. Of tasks whose delivery was lost it makes suspects
	 * ({@code taken} is false). The subqueries around the parameters hide their values
	 * from the planner. Otherwise PostgreSQL would plan the statement for each claim,
	 * which takes a third of its time.
	 *
	 * <p>
	 * The rows are locked and updated by their places in the table ({@code ctid}), which
	 * saves a search in the index for each. If a row has changed since the statement
	 * began, its place is not the one that this statement sees: the statement leaves the
	 * row, and the next claim takes it.
	 *
	 * <p>
	 * The commit waits for the disk only if a task has begun with the claim.
	 */
	private String claim(TableName table, String wanted, String columns) {
		return """
				with clock as (select %1$s + ? as now, ? as look_ahead),
				%8$s,
				suspect as (
					select first.place, first.next_at from wanted w, clock, lateral (
						select ctid as place, next_at from %2$s
						where name = w.name and suspect = 1 and next_at <= clock.now
						order by next_at limit 1 for update skip locked) first
					where (select ?::boolean)
					order by first.next_at limit 1),
				found as (
					select first.*, w.due, w.soon, first.next_at <= clock.now as is_due
					from wanted w, clock, lateral (
						select ctid as place, name, next_at, status from %2$s
						where name = w.name and suspect = 0
							and next_at >= w.since and next_at <= clock.now + clock.look_ahead
							and (owner is null or next_at <= clock.now)
						order by next_at limit w.due + w.soon for update skip locked) first
					where not exists (select 1 from suspect)),
				ranked as (
					select *, row_number() over (partition by name, is_due, status order by next_at) as rank from found),
				chosen as (
					(select place, next_at, status <> %4$d as taken from ranked
						where status = %4$d or rank <= case when is_due then due else soon end
						order by next_at limit (select ?::int))
					union all select place, next_at, true from suspect),
				claimed as (
					update %2$s t set owner = case when taken then ? end,
						fence = greatest(t.fence + 1, clock.now * 1000),
						next_at = case when taken then least(greatest(t.due_at, clock.now) + ?, %3$d) else t.next_at end,
						lost_deliveries = t.lost_deliveries + t.alone,
						suspect = case when taken then t.suspect else 1 end,
						alone = 0,
						deliveries = t.deliveries + case when %5$s then 1 else 0 end,
						pending_key = case when %5$s then null else t.pending_key end,
						status = case when %5$s then %4$d else t.status end
					from chosen, clock where t.ctid = chosen.place
					returning chosen.next_at as found_at, taken, t.*)
				select id, found_at, name, taken, suspect, fence, task_key,
					case when taken and octet_length(payload) <= ? then payload end, traceparent, due_at, status, attempt,
					deliveries, lost_deliveries, claimed.next_at, schedule, scheduled_at,
					clock.now, pg_relation_size('%2$s'),
					(select count(*) from chosen) > (select count(*) from claimed),
					case when (select count(*) from claimed) < ? then (
						select min(least(later.next_at, soon.next_at)) from wanted w left join lateral (
							select next_at from %2$s
							where name = w.name and suspect = 0 and next_at > (select now + look_ahead from clock)
							order by next_at limit 1) later on true left join lateral (
							select min(next_at) filter (where owner is not null or number = %6$d) as next_at from (
								select next_at, owner, row_number() over (order by next_at) as number from %2$s
								where name = w.name and suspect = 0 and next_at > (select now from clock)
									and next_at <= (select now + look_ahead from clock)
								order by next_at limit %6$d) first) soon on true) end,
					(%7$s where not exists (select 1 from claimed where taken and status = %4$d))%9$s
				from clock left join claimed on true
				"""
			.formatted(this.now, table, MAX_TIME, TaskRow.RUNNING,
					"t.status = " + TaskRow.PENDING + " and t.suspect = 0 and t.due_at <= clock.now", MAX_LOOK,
					WITHOUT_DISK, wanted, columns);
	}

	/**
	 * The statement that locks the row of a limited name, and remembers the name for the
	 * next statement of the transaction. Claims of other nodes wait in a queue, which
	 * costs less than to try again and again.
	 */
	private static String lockLimit(TableName table) {
		return """
				select set_config('%s', name, true) from (
					select name from %s where name = (select ?::text)
						and set_config('lock_timeout', '%dms', true) is not null for update) locked;
				""".formatted(LOCKED_NAME, table.limitTable(), LIMIT_LOCK_MILLIS);
	}

	/**
	 * What a claim wants of a limited name: no more than there are free places, and
	 * nothing without the lock of the name. The statement begins after the lock was
	 * taken, so that it sees all tasks that earlier claims have begun. If runs were lost,
	 * it takes nothing, since {@link LimitedClaims} deals with them.
	 */
	private static String wantedOfLimited(TableName table) {
		return """
				limited as (select (select ?::text) as name, (select ?::int) as concurrent),
				running as (
					select count(*) as number, coalesce(bool_or(next_at <= (select now from clock)), false) as has_ended from (
						select next_at from %1$s
						where name = (select name from limited) and status = %2$d and owner is not null
							and current_setting('%3$s', true) = (select name from limited)
						order by name, status, due_at, id limit (select concurrent from limited)) counted),
				places as (
					select coalesce(current_setting('%3$s', true) = limited.name, false) as locked,
						not exists (select 1 from %4$s where name = (select name from limited)) as missing,
						running.has_ended or exists (
							select 1 from %1$s where name = (select name from limited) and suspect = 1
								and next_at is not null) as has_lost,
						greatest(limited.concurrent - running.number, 0)::int as free
					from limited, running),
				wanted as (
					select limited.name, case when locked and not has_lost then least((select ?::int), free) else 0 end as due,
						0 as soon, (select ?::bigint) as since
					from limited, places)"""
			.formatted(table, TaskRow.RUNNING, LOCKED_NAME, table.limitTable());
	}

	@Override
	Claimed claim(ClaimRequest request) {
		List<String> names = List.copyOf(request.names().keySet());
		List<Limit> limits = names.stream().map((name) -> Objects.requireNonNull(request.names().get(name))).toList();
		return this.database.store().single((jdbc) -> {
			Search[] search = new Search[1];
			// The parameters are set once there is a connection, for which the search
			// does not wait then.
			return jdbc.query(this.claim.forTableOf(this.tableSize), (ps) -> {
				search[0] = this.floors.search(names);
				new ArgumentPreparedStatementSetter(parameters(request, names, limits, search[0])).setValues(ps);
			}, (ResultSetExtractor<Claimed>) (rs) -> claimed(rs, request, search[0]));
		});
	}

	/**
	 * Locks the name and claims in one request. The two statements are one transaction,
	 * also if each request is a transaction: the driver sends both before it ends the
	 * request. If a driver did not, the claim would take nothing.
	 */
	@Override
	CountedClaim claimLimited(ClaimRequest request, String name, int room, int concurrent) {
		Object text = this.dialect.text(name);
		return this.database.store()
			.single((jdbc) -> Objects.requireNonNull(jdbc.execute(this.claimLimited.forTableOf(this.tableSize),
					(PreparedStatementCallback<CountedClaim>) (ps) -> {
						Search search = this.floors.search(List.of(name));
						new ArgumentPreparedStatementSetter(new Object[] { text, this.database.time().parameter(), 0,
								text, concurrent, room, search.floors().get(0), false, room, request.owner(),
								LeaseTimes.millis(request.lease()), request.maxPayloadBytes(), room })
							.setValues(ps);
						ps.execute();
						// The result of the first statement is not needed.
						ps.getMoreResults();
						try (ResultSet rs = ps.getResultSet()) {
							return claimedLimited(rs, request, name, room, search);
						}
					})));
	}

	private CountedClaim claimedLimited(ResultSet rs, ClaimRequest request, String name, int room, Search search)
			throws SQLException {
		ClaimReply reply = ClaimReply.read(rs, true);
		this.tableSize = reply.tableSize();
		Places places = Objects.requireNonNull(reply.places());
		if (places.usable()) {
			Limit limit = new Limit(Math.min(room, places.free()), 0);
			this.floors.searched(search, new ClaimRequest(request.owner(), Map.of(name, limit), room, false,
					Duration.ZERO, request.lease(), request.maxPayloadBytes()), reply.found(), reply.now());
		}
		return new CountedClaim(reply.tasks(), reply.now(), reply.nextAt(), places);
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
		ClaimReply reply = ClaimReply.read(rs, false);
		this.tableSize = reply.tableSize();
		if (reply.tasks().stream().noneMatch((row) -> row.task().suspect())) {
			// A claim that takes a suspect does not search for other tasks.
			this.floors.searched(search, request, reply.found(), reply.now());
		}
		return ClaimedRow.claim(reply.tasks(), reply.now(), reply.nextAt());
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
	 * @param orReplace stores each task in place of the pending task with its key
	 * @param unlessPending stores each task whose key is not pending
	 */
	private record EnqueueStatements(String orReplace, String unlessPending) {

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
					from task
					on conflict (name, pending_key) where pending_key is not null do\s"""
				.formatted(now, MAX_TIME, source, table, TaskRow.PENDING, NewRow.FIRST_FENCE, setting);
			String returning = " returning id, fence, due_at, created_at, owner is not null as leased";
			return new EnqueueStatements(
					insert + """
							update set
								id = excluded.id, payload = excluded.payload, traceparent = excluded.traceparent,
								due_at = excluded.due_at, first_at = case when t.deliveries = 0 then t.first_at end,
								next_at = excluded.next_at, owner = excluded.owner,
								fence = greatest(t.fence + 1, excluded.created_at * 1000), attempt = 1, deliveries = 0, lost_deliveries = 0,
								suspect = 0, alone = 0, error = null, created_at = excluded.created_at
							"""
							+ returning,
					insert + "nothing" + returning);
		}

	}

	/**
	 * The columns of the result of a claim. A place takes less time than a name, which
	 * the driver looks up for each value.
	 */
	private static final class ClaimColumn {

		static final int ID = 1;

		static final int FOUND_AT = 2;

		static final int NAME = 3;

		static final int TAKEN = 4;

		static final int SUSPECT = 5;

		static final int FENCE = 6;

		static final int TASK_KEY = 7;

		static final int PAYLOAD = 8;

		static final int TRACEPARENT = 9;

		static final int DUE_AT = 10;

		static final int STATUS = 11;

		static final int ATTEMPT = 12;

		static final int DELIVERIES = 13;

		static final int LOST_DELIVERIES = 14;

		static final int LEASE_END = 15;

		static final int SCHEDULE = 16;

		static final int SCHEDULED_AT = 17;

		/** This and the following columns have the same value in each row. */
		static final int NOW = 18;

		static final int TABLE_SIZE = 19;

		static final int HAS_LEFT = 20;

		static final int LATER_AT = 21;

		/**
		 * This and the following columns are those of a limited name. The column before
		 * has no use but its side effect.
		 */
		static final int LOCKED = 23;

		static final int MISSING = 24;

		static final int HAS_LOST = 25;

		static final int FREE = 26;

	}

	/**
	 * A statement for tables of different sizes. PostgreSQL keeps a plan for a text, and
	 * a plan for a small table may scan the whole table. So the text changes with the
	 * size, by powers of four.
	 */
	private static final class ClaimStatement {

		private final String prefix;

		private final String text;

		private final Map<Integer, String> bySize = new ConcurrentHashMap<>();

		/**
		 * Creates the texts.
		 * @param prefix another statement before it in the same request, empty for none
		 */
		ClaimStatement(String prefix, String text) {
			this.prefix = prefix;
			this.text = text;
		}

		String forTableOf(long bytes) {
			int size = (Long.SIZE - Long.numberOfLeadingZeros(bytes / PAGE_BYTES) + 1) / 2;
			return this.bySize.computeIfAbsent(size,
					(power) -> this.prefix + "/* at most 4^%d pages */ ".formatted(power) + this.text);
		}

	}

	/**
	 * What a claim returns.
	 *
	 * @param tasks the claimed tasks, in the order of the times by which it found them
	 * @param found the times of the tasks that it found, by name, in order
	 * @param places of a limited name, {@code null} for other names
	 */
	private record ClaimReply(List<ClaimedRow> tasks, Map<String, List<Long>> found, long now, long nextAt,
			long tableSize, @Nullable Places places) {

		static ClaimReply read(ResultSet rs, boolean limited) throws SQLException {
			List<ClaimedRow> tasks = new ArrayList<>();
			Map<String, List<Long>> found = new HashMap<>();
			long now = 0;
			long nextAt = Long.MAX_VALUE;
			long tableSize = 0;
			Places places = null;
			boolean first = true;
			while (rs.next()) {
				if (first) {
					first = false;
					now = rs.getLong(ClaimColumn.NOW);
					Long later = rs.getBoolean(ClaimColumn.HAS_LEFT) ? Long.valueOf(now)
							: rs.getObject(ClaimColumn.LATER_AT, Long.class);
					nextAt = (later != null) ? later : Long.MAX_VALUE;
					tableSize = rs.getLong(ClaimColumn.TABLE_SIZE);
					places = limited ? new Places(rs.getBoolean(ClaimColumn.LOCKED), rs.getBoolean(ClaimColumn.MISSING),
							rs.getBoolean(ClaimColumn.HAS_LOST), rs.getInt(ClaimColumn.FREE)) : null;
				}
				if (rs.getString(ClaimColumn.ID) == null) {
					continue;
				}
				long foundAt = rs.getLong(ClaimColumn.FOUND_AT);
				found.computeIfAbsent(rs.getString(ClaimColumn.NAME), (key) -> new ArrayList<>()).add(foundAt);
				if (rs.getBoolean(ClaimColumn.TAKEN)) {
					tasks.add(new ClaimedRow(task(rs), foundAt, rs.getLong(ClaimColumn.LEASE_END)));
				}
				else {
					nextAt = Math.min(nextAt, foundAt);
				}
			}
			found.values().forEach(Collections::sort);
			tasks.sort(Comparator.comparingLong(ClaimedRow::foundAt));
			return new ClaimReply(tasks, found, now, nextAt, tableSize, places);
		}

		private static LeasedTask task(ResultSet rs) throws SQLException {
			boolean suspect = rs.getInt(ClaimColumn.SUSPECT) != 0;
			String schedule = rs.getString(ClaimColumn.SCHEDULE);
			return new LeasedTask(rs.getString(ClaimColumn.ID), rs.getLong(ClaimColumn.FENCE),
					rs.getString(ClaimColumn.NAME), rs.getString(ClaimColumn.TASK_KEY),
					rs.getString(ClaimColumn.PAYLOAD), rs.getString(ClaimColumn.TRACEPARENT),
					rs.getLong(ClaimColumn.DUE_AT), !suspect && rs.getInt(ClaimColumn.STATUS) == TaskRow.RUNNING,
					rs.getInt(ClaimColumn.ATTEMPT), rs.getInt(ClaimColumn.DELIVERIES),
					rs.getInt(ClaimColumn.LOST_DELIVERIES), suspect,
					(schedule != null) ? new StoredSchedule(schedule, rs.getLong(ClaimColumn.SCHEDULED_AT)) : null);
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
