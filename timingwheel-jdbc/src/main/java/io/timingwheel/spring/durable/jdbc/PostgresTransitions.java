package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.durable.jdbc.ClaimFloors.Search;

import org.springframework.jdbc.core.ArgumentPreparedStatementSetter;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.ResultSetExtractor;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The most frequent transitions on PostgreSQL. Each is one statement for any number of
 * tasks: {@link EnqueueStatements}, {@link ClaimStatement},
 * {@link LimitedClaimStatement}, {@link LeaseStatement}.
 */
final class PostgresTransitions extends Transitions {

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

	private final AtomicLong tableSize;

	private final ClaimStatement claim;

	private final LimitedClaimStatement claimLimited;

	private final ClaimFloors floors;

	private final LeaseStatement begin;

	private final LeaseStatement renew;

	private final LeaseStatement acknowledge;

	/**
	 * Creates the transitions.
	 * @param tableSize takes the size of the table in bytes, as each claim, look or
	 * change sees it
	 */
	PostgresTransitions(Database database, AtomicLong tableSize) {
		super(database);
		this.tableSize = tableSize;
		this.database = database;
		this.dialect = database.dialect();
		TableName table = database.table();
		this.enqueueOne = EnqueueStatements.forOne(database, "");
		this.enqueueMany = EnqueueStatements.forMany(database, "");
		String timeout = ", set_config('lock_timeout', '%dms', true)".formatted(SHARED_LOCK_MILLIS);
		this.shareOne = EnqueueStatements.forOne(database, timeout);
		this.shareMany = EnqueueStatements.forMany(database, timeout);
		// With a given clock each claim is a sweep. The clock may stand still, so the
		// time of a later sweep might not come.
		this.floors = database.time().isGiven() ? new ClaimFloors(() -> 0, Duration.ZERO)
				: new ClaimFloors(System::nanoTime, ClaimFloors.SWEEP);
		this.claim = new ClaimStatement(database, this.tableSize, "", """
				wanted as (select * from unnest((select ?::text[]), (select ?::int[]), (select ?::int[]),
					(select ?::bigint[])) as w (name, due, soon, since))""", "");
		this.claimLimited = new LimitedClaimStatement(database, this.tableSize, this.floors);
		String now = PostgresDialect.clock(database.time());
		String lease = "next_at = least(%s + ? + ?, %d)".formatted(now, DelayedTaskStore.MAX_TIME);
		String update = "update %s t set %s";
		this.begin = new LeaseStatement(table, this.tableSize, "status <> " + TaskRow.DEAD, true, update.formatted(
				table,
				("deliveries = t.deliveries + case when t.status = %d or t.suspect = 1 then 1 else 0 end,"
						+ " alone = greatest(t.alone, t.suspect), suspect = 0, pending_key = null, status = %d, %s")
					.formatted(TaskRow.PENDING, TaskRow.RUNNING, lease)),
				Reply.REFUSED);
		this.renew = new LeaseStatement(table, this.tableSize, "status = " + TaskRow.RUNNING, true,
				update.formatted(table, lease), Reply.REFUSED);
		this.acknowledge = new LeaseStatement(table, this.tableSize, "status = " + TaskRow.RUNNING, false,
				"delete from %s t".formatted(table), Reply.DONE);
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
		Map<String, Long> earliest = new HashMap<>();
		for (NewTask task : others) {
			if (task.maxWait() != null) {
				insertUnlessPending(jdbc, task).ifPresent((enqueued) -> {
					stored.put(task.id(), enqueued);
					earliest.merge(task.name(), enqueued.dueAt(), Math::min);
				});
			}
		}
		earliest.forEach(this::claimable);
		return stored;
	}

	/**
	 * Stores a task with a longest wait, unless its key is pending. If the key is
	 * pending, the caller locks the row of the pending task and computes the new row from
	 * it.
	 */
	private Optional<Enqueued> insertUnlessPending(JdbcOperations jdbc, NewTask task) {
		NewRow row = NewRow.of(task, this.database.now(jdbc), null);
		int inserted = jdbc.update(
				NewRow.insert(this.database.table())
						+ " on conflict (name, pending_key) where pending_key is not null do nothing",
				row.insertValues(this.dialect));
		return (inserted > 0) ? Optional.of(row.inserted()) : Optional.empty();
	}

	private void store(JdbcOperations jdbc, Function<EnqueueStatements, String> statement, List<NewTask> tasks,
			Map<String, Enqueued> stored) {
		if (!tasks.isEmpty()) {
			store(jdbc, statement.apply((tasks.size() == 1) ? this.enqueueOne : this.enqueueMany), tasks, stored);
		}
	}

	/**
	 * A task with a key can be shared too, since the statement waits only briefly for a
	 * lock.
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
			Enqueued task = EnqueueStatements.read(rs);
			stored.put(task.id(), task);
			earliest.merge(Objects.requireNonNull(byId.get(task.id())).name(), task.dueAt(), Math::min);
		}, EnqueueStatements.parameters(tasks, this.database));
		earliest.forEach(this::claimable);
	}

	@Override
	Claimed claim(ClaimRequest request) {
		List<String> names = List.copyOf(request.names().keySet());
		List<Limit> limits = names.stream().map((name) -> Objects.requireNonNull(request.names().get(name))).toList();
		return this.database.store().single((jdbc) -> {
			Search[] search = new Search[1];
			// The search begins when there is a connection. Its duration then does not
			// include a wait for a connection.
			return jdbc.query(this.claim.text(), (ps) -> {
				search[0] = this.floors.search(names);
				new ArgumentPreparedStatementSetter(parameters(request, names, limits, search[0])).setValues(ps);
			}, (ResultSetExtractor<Claimed>) (rs) -> claimed(rs, request, search[0]));
		});
	}

	private Object[] parameters(ClaimRequest request, List<String> names, List<Limit> limits, Search search) {
		return new Object[] { this.database.time().parameter(), LeaseTimes.millis(request.lookAhead()),
				LeaseTimes.horizon(request.lookAhead(), request),
				names.stream().map(this.dialect::text).toArray(String[]::new),
				limits.stream().map(Limit::due).toArray(Integer[]::new),
				limits.stream().map(Limit::soon).toArray(Integer[]::new), search.floors().toArray(Long[]::new),
				request.suspect(), request.limit(), request.owner(), LeaseTimes.millis(request.lease()),
				this.dialect.storedBytes(request.maxPayloadBytes()) };
	}

	private Claimed claimed(ResultSet rs, ClaimRequest request, Search search) throws SQLException {
		ClaimReply reply = this.claim.read(rs);
		if (!reply.hasLeft() && reply.tasks().stream().noneMatch((row) -> row.task().suspect())) {
			// A claim that takes a suspect does not search for other tasks.
			this.floors.searched(search, request, reply.found(), reply.now());
		}
		return ClaimedRow.claim(reply.tasks(), reply.endedAt(), reply.nextAt());
	}

	@Override
	CountedClaim claimLimited(ClaimRequest request, String name, int room, int concurrent) {
		return this.claimLimited.claim(request, name, room, concurrent);
	}

	@Override
	Search look(List<String> names) {
		return this.floors.search(names);
	}

	@Override
	String lookText(String sql) {
		return "select looks.*, %s as table_size from (%s) looks".formatted(SizedStatements.size(this.database.table()),
				sql);
	}

	@Override
	void readLook(ResultSet rs) throws SQLException {
		this.tableSize.set(rs.getLong("table_size"));
	}

	@Override
	void looked(Search search, Map<String, FirstTimes> looks) {
		this.floors.looked(search, looks);
	}

	/**
	 * In a transaction the task becomes claimable when the transaction commits. A claim
	 * before the commit does not see the task, so the floors learn of the task again.
	 */
	@Override
	void claimable(String name, long dueAt) {
		this.floors.claimable(name, dueAt);
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				/**
				 * Before the poller learns of the task.
				 */
				@Override
				public int getOrder() {
					return HIGHEST_PRECEDENCE + 1;
				}

				/**
				 * Spring does not call {@code afterCommit()} if the task was stored
				 * there.
				 */
				@Override
				public void afterCompletion(int status) {
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
		Collection<TaskRef> changed = Objects.requireNonNull(this.database.store()
			.single((jdbc) -> jdbc.query(statement.change(),
					(ResultSetExtractor<Collection<TaskRef>>) (rs) -> statement.read(rs, tasks),
					LeaseStatement.parameters(tasks, values))));
		if (changed == tasks) {
			return Collections.nCopies(tasks.size(), Reply.DONE);
		}
		List<TaskRef> others = tasks.stream().filter((task) -> !changed.contains(task)).toList();
		Map<String, Long> fences = others.isEmpty() ? Map.of() : fences(statement, others);
		return tasks.stream()
			.map((task) -> changed.contains(task) ? Reply.DONE
					: LockedTasks.replyForNotLocked(task, fences.get(task.id()), statement.gone()))
			.toList();
	}

	/**
	 * The fences of tasks that were not changed. If a task has the fence of the caller,
	 * another transaction had locked the task, or the task has changed just now. The
	 * caller then asks again.
	 */
	private Map<String, Long> fences(LeaseStatement statement, List<TaskRef> tasks) {
		return this.database.store().single((jdbc) -> {
			Map<String, Long> fences = new HashMap<>();
			jdbc.query(statement.fences(), (rs) -> {
				fences.put(rs.getString("id"), rs.getLong("fence"));
			}, (Object) LeaseStatement.ids(tasks));
			return fences;
		});
	}

}
