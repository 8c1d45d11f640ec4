package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask.TaskRef;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

/**
 * The part of the store for nodes: claim, and what nodes do with the tasks that they have
 * leased, which is to lock the rows, decide, and write. On PostgreSQL one statement
 * begins, renews or acknowledges all tasks of a call.
 */
abstract class NodeCalls implements DelayedTaskStore {

	private static final Duration MAX_WAIT = Duration.ofSeconds(1);

	private static final String RUNNING = "id = ? and fence = ? and status = {running}";

	/**
	 * The statement of PostgreSQL gives the tasks that stay as they are. The subqueries
	 * around the lists hide their values from the planner, which would otherwise plan
	 * each statement anew.
	 */
	private static final String AT_ONCE = """
			with given as (
				select * from unnest((select ?::text[]), (select ?::bigint[])) as given (id, fence)
			), held as (
				select t.ctid as place from {task} t join given on t.id = given.id and t.fence = given.fence
				where owner is not null and %s for update of t skip locked
			), changed as (
				%s where t.ctid = any(array(select place from held)) returning t.id, t.fence
			)
			select id, fence from given where (id, fence) not in (select id, fence from changed)""";

	private static final String UPDATE = "update {task} t set %snext_at = least({now} + ?, {max})";

	private static final String BEGIN = AT_ONCE
		.formatted("status <> {dead} and (queue <> {suspect} or next_at > {now})", UPDATE.formatted("""
				deliveries = deliveries + case when status = {pending} then 1 else 0 end,
				held_key = case when schedule is null then null else held_key end, first_at = null, status = {running},
				"""));

	private static final String RENEW = AT_ONCE.formatted("status = {running}", UPDATE.formatted(""));

	private static final String ACKNOWLEDGE = AT_ONCE.formatted("status = {running}", "delete from {task} t");

	final Database database;

	private final Supplier<Claiming> claiming;

	NodeCalls(Database database) {
		this.database = database;
		this.claiming = SingletonSupplier
			.of(() -> database.dialect().isPostgres() ? new PostgresClaim(database) : new PortableClaim(database));
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return this.claiming.get().claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		Long now = this.database.givenTime();
		return extend(BEGIN, tasks, lease, TaskRow::begin, now, now, Session.millis(lease));
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return extend(RENEW, tasks, lease, (row, now) -> row.isRunning(), this.database.givenTime(),
				Session.millis(lease));
	}

	private List<Reply> extend(String statement, List<TaskRef> tasks, Duration lease, BiPredicate<TaskRow, Long> change,
			@Nullable Object... values) {
		List<Change> changes = tasks.stream().map((task) -> new Change(task, Reply.REFUSED, null, (row, now) -> {
			if (!change.test(row, now)) {
				return null;
			}
			row.nextAt = DueTime.after(lease).resolve(now);
			return Reply.DONE;
		})).toList();
		return this.database.dialect().isPostgres() ? atOnce(statement, changes, values)
				: this.database.node().transaction((session) -> lockAndChange(session, changes));
	}

	@Override
	public List<Reply> settle(List<Settlement> settlements) {
		Settlement first = settlements.get(0);
		if (settlements.size() == 1 && first instanceof Settlement.Acknowledge && this.database.givenTime() != null
				&& this.database.node().single((session) -> acknowledge(session, first.task()))) {
			// One thread of a test runs all tasks, and a lock first would double its
			// time.
			return List.of(Reply.DONE);
		}
		List<Change> changes = settlements.stream().map(NodeCalls::settlement).toList();
		boolean atOnce = this.database.dialect().isPostgres()
				&& settlements.stream().allMatch(Settlement.Acknowledge.class::isInstance);
		return atOnce ? atOnce(ACKNOWLEDGE, changes) : settleLocked(changes);
	}

	/**
	 * Usually one transaction settles all tasks. If another transaction is storing a task
	 * with one of their keys, each task gets a transaction of its own.
	 */
	private List<Reply> settleLocked(List<Change> changes) {
		List<Reply> together = takeKeys((session) -> lockAndChange(session, changes));
		if (together != null) {
			return together;
		}
		// Each task comes first in some calls.
		List<Change> shuffled = new ArrayList<>(changes);
		Collections.shuffle(shuffled);
		Map<Change, Reply> replies = each(shuffled, MAX_WAIT,
				(session, change) -> lockAndChange(session, List.of(change)).get(0));
		return changes.stream().map((change) -> replies.getOrDefault(change, Reply.BUSY)).toList();
	}

	@Override
	public boolean settleInTransaction(Settlement settlement) {
		Session session = this.database.joined();
		Assert.state(session != null, "The thread has no transaction on the DataSource of the application");
		TaskRef task = settlement.task();
		if (settlement instanceof Settlement.Acknowledge) {
			return acknowledge(session, task);
		}
		List<TaskRow> rows = session.rows("select {columns} from {task} where " + RUNNING + " for update", task.id(),
				task.fence());
		rows.forEach((row) -> settle(settlement, row, session.now()));
		session.write(rows);
		return !rows.isEmpty();
	}

	private static boolean acknowledge(Session session, TaskRef task) {
		return session.update("delete from {task} where " + RUNNING, task.id(), task.fence()) > 0;
	}

	/** What the statement leaves as it is takes the other way, for its reply. */
	private List<Reply> atOnce(String statement, List<Change> changes, @Nullable Object... values) {
		List<@Nullable Object> parameters = new ArrayList<>();
		parameters.add(changes.stream().map((change) -> change.task.id()).toArray(String[]::new));
		parameters.add(changes.stream().map((change) -> change.task.fence()).toArray(Long[]::new));
		parameters.addAll(Arrays.asList(values));
		Set<TaskRef> left = Set.copyOf(this.database.node()
			.single((session) -> session.query(statement, (rs, rowNum) -> new TaskRef(rs.getString(1), rs.getLong(2)),
					parameters.toArray())));
		List<Change> others = changes.stream().filter((change) -> left.contains(change.task)).toList();
		Iterator<Reply> replies = others.isEmpty() ? Collections.emptyIterator()
				: this.database.node().transaction((session) -> lockAndChange(session, others)).iterator();
		return changes.stream().map((change) -> left.contains(change.task) ? replies.next() : Reply.DONE).toList();
	}

	private static List<Reply> lockAndChange(Session session, List<Change> changes) {
		Set<String> ids = changes.stream().map((change) -> change.task.id()).collect(Collectors.toSet());
		Map<String, TaskRow> locked = session.lock(ids);
		ids.removeAll(locked.keySet());
		Map<String, TaskRow> others = session.read(ids);
		long now = session.now();
		List<Reply> replies = new ArrayList<>();
		List<TaskRow> writes = new ArrayList<>();
		for (Change change : changes) {
			String id = change.task.id();
			TaskRow row = locked.get(id);
			boolean held = row != null && row.held;
			Reply reply = (row != null) ? change.apply(row, now) : null;
			if (row == null || reply == null) {
				replies.add(change.notLocked((row != null) ? row : others.get(id), now));
				continue;
			}
			writes.add(row);
			if (row.held && !held) {
				if (isTaken(session, row)) {
					row.status = TaskRow.GONE;
					reply = Reply.SUPERSEDED;
				}
				// The next task may have the same key.
				session.write(writes);
				writes.clear();
			}
			replies.add(reply);
		}
		session.write(writes);
		return replies;
	}

	/**
	 * Makes changes that take keys, each in a transaction of its own. Waits in vain take
	 * {@code maxWait} together, and have no result.
	 */
	<T, R> Map<T, R> each(Collection<T> tasks, Duration maxWait, BiFunction<Session, T, R> change) {
		long waited = 0;
		Map<T, R> results = new HashMap<>();
		for (T task : tasks) {
			long start = System.nanoTime();
			R result = (waited < maxWait.toNanos()) ? takeKeys((session) -> change.apply(session, task)) : null;
			if (result != null) {
				results.put(task, result);
			}
			else {
				waited += System.nanoTime() - start;
			}
		}
		return results;
	}

	/** Gives {@code null} if another transaction is storing a task with a key. */
	private <T> @Nullable T takeKeys(Function<Session, T> change) {
		try {
			return this.database.node().once(false, change);
		}
		catch (ConcurrencyFailureException | DuplicateKeyException ex) {
			return null;
		}
	}

	/** Whether another task has the key. From now on waits for locks are short. */
	static boolean isTaken(Session session, TaskRow row) {
		Dialect dialect = session.dialect();
		if (row.key == null) {
			return false;
		}
		dialect.limitLockWait(session.jdbc);
		return session
			.strings("select id from {task} where name = ? and held_key = ?" + dialect.lockNoWait(),
					dialect.text(row.name), row.heldKey(dialect))
			.stream()
			.anyMatch((id) -> !id.equals(row.id));
	}

	private static Change settlement(Settlement settlement) {
		boolean acknowledges = settlement instanceof Settlement.Acknowledge;
		State after = acknowledges ? null : (settlement instanceof Settlement.Bury) ? State.DEAD : State.SCHEDULED;
		boolean onlyRunning = acknowledges || settlement instanceof Settlement.Retry;
		return new Change(settlement.task(),
				(acknowledges || settlement instanceof Settlement.Repeat) ? Reply.DONE : Reply.REFUSED, after,
				(row, now) -> (row.isRunning() || !onlyRunning) ? settle(settlement, row, now) : null);
	}

	private static Reply settle(Settlement settlement, TaskRow row, long now) {
		boolean running = row.isRunning();
		if (settlement instanceof Settlement.Acknowledge) {
			row.status = TaskRow.GONE;
		}
		else if (settlement instanceof Settlement.Repeat repeat) {
			repeat(repeat, row, now);
		}
		else if (settlement instanceof Settlement.Bury bury) {
			row.bury(bury.reason(), now);
		}
		else if (row.isLast()) {
			row.status = TaskRow.GONE;
			return Reply.SUPERSEDED;
		}
		else if (settlement instanceof Settlement.Retry retry) {
			row.schedule(DueTime.after(retry.delay()).resolve(now));
			row.attempt = retry.attempt();
			row.lost = 0;
			row.error = retry.error();
		}
		else if (settlement instanceof Settlement.Release release) {
			row.schedule(row.dueAt);
			row.deliveries -= (running && !release.started()) ? 1 : 0;
		}
		return Reply.DONE;
	}

	/** A schedule that was changed during the run goes on with its own first time. */
	private static void repeat(Settlement.Repeat repeat, TaskRow row, long now) {
		boolean same = repeat.schedule().equals(row.schedule);
		if (row.schedule == null || (same && repeat.next() == null)) {
			row.status = TaskRow.GONE;
			return;
		}
		row.schedule(
				same ? Objects.requireNonNull(repeat.next()).resolve(now) : Objects.requireNonNull(row.scheduledAt));
		row.reset();
		row.scheduledAt = row.dueAt;
		row.firstAt = null;
		row.error = repeat.error();
	}

	/**
	 * What a call does with one task.
	 *
	 * @param gone the reply for a task that does not exist
	 * @param after the state in which an earlier call with this change has left the task,
	 * {@code null} if such a call is not recognized
	 * @param decision changes the row of a task that the caller has, {@code null} if the
	 * state of the task does not permit the change
	 */
	private record Change(TaskRef task, Reply gone, @Nullable State after,
			BiFunction<TaskRow, Long, @Nullable Reply> decision) {

		@Nullable Reply apply(TaskRow row, long now) {
			return (row.owner != null && row.fence == this.task.fence()) ? this.decision.apply(row, now) : null;
		}

		/**
		 * The reply about a task that the caller does not have, or that another
		 * transaction has locked. A repeated call is known by the fence. Changes at most
		 * this copy of the row, to see whether it could be changed.
		 */
		Reply notLocked(@Nullable TaskRow row, long now) {
			if (row == null) {
				return this.gone;
			}
			boolean repeated = row.fence == this.task.fence() && row.state() == this.after;
			return repeated ? Reply.DONE : (apply(row, now) != null) ? Reply.BUSY : Reply.REFUSED;
		}

	}

}
