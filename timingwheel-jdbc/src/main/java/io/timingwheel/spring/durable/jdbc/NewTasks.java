package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued.Outcome;
import io.timingwheel.spring.durable.store.EnqueueCombiner;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Enqueue. On PostgreSQL, one statement stores any number of tasks whose row does not
 * depend on the pending task with their key. All other tasks are stored in one way: lock
 * the pending tasks, decide, and write.
 */
final class NewTasks {

	private static final int MAX_ROUNDS = 100;

	private static final int MAX_BATCH = 1000;

	/** How long a statement with the tasks of several callers waits for a lock. */
	private static final String SHARED_LOCK_TIMEOUT = "20ms";

	private static final String INSERT_ALL = """
			with clock as (
				select {now} as now, set_config('lock_timeout', coalesce(?, current_setting('lock_timeout')), true)
			), given as (
				select *, least(case when absolute then 0 else now end + millis, {max}) as due_at
				from clock, unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[], ?::bigint[])
					as given (id, name, task_key, payload, traceparent, absolute, millis)
			)
			insert into {task} as t (id, name, task_key, held_key, payload, traceparent, due_at, next_at, status, fence,
				attempt, deliveries, lost, created_at)
			select id, name, task_key, 'o' || task_key, payload, traceparent, due_at, due_at, {pending}, 1, 1, 0, 0, now
			from given
			""";

	private static final String REPLACE_PENDING = """
			on conflict (name, held_key) where held_key is not null do update set
				id = excluded.id, payload = excluded.payload, traceparent = excluded.traceparent,
				due_at = excluded.due_at, next_at = excluded.next_at, owner = null,
				first_at = case when t.deliveries = 0 then t.first_at end,
				fence = greatest(t.fence + 1, excluded.created_at * 1000), attempt = 1, deliveries = 0, lost = 0,
				error = null, created_at = excluded.created_at
			""";

	private static final String RESULT = "returning id, due_at, created_at, fence > 1";

	private static final String INSERT_UNKEYED = INSERT_ALL + RESULT;

	private static final String UPSERT = INSERT_ALL + REPLACE_PENDING + RESULT;

	private static final String LOCK_PENDING = """
			select {columns} from {task} where status = {pending} and held_key is not null and id {in}
				order by id for update""";

	private static final Comparator<NewTask> BY_KEY = Comparator.comparing(NewTask::name)
		.thenComparing(NewTask::key, Comparator.nullsFirst(Comparator.naturalOrder()));

	private final Database database;

	private final EnqueueCombiner combiner = new EnqueueCombiner(this::storeTogether,
			(task) -> store(List.of(task)).get(0));

	NewTasks(Database database) {
		this.database = database;
	}

	/** Callers without a transaction share requests if no lock can hold them up long. */
	List<Enqueued> enqueue(List<NewTask> tasks) {
		boolean shares = this.database.shared && tasks.size() == 1 && overwrites(tasks.get(0))
				&& !TransactionSynchronizationManager.isSynchronizationActive();
		return shares ? List.of(this.combiner.enqueue(tasks.get(0))) : store(tasks);
	}

	private List<Enqueued> store(List<NewTask> tasks) {
		Session caller = this.database.caller();
		if (tasks.size() > 1) {
			return inOrder(tasks, caller.allOrNone((session) -> storeBatches(session, batches(tasks))));
		}
		return inOrder(tasks, overwrites(tasks.get(0)) ? caller.single((session) -> upsert(session, tasks, null))
				: caller.transaction((session) -> lockAndWrite(session, tasks, true)));
	}

	/** Gives {@code null} if one of the tasks cannot be stored or waits for a lock. */
	private @Nullable List<Enqueued> storeTogether(List<NewTask> tasks) {
		List<List<NewTask>> batches = batches(tasks);
		if (batches.size() > 1) {
			// Two tasks have the same key.
			return null;
		}
		try {
			return inOrder(tasks, this.database.caller()
				.once(true, (session) -> upsert(session, batches.get(0), SHARED_LOCK_TIMEOUT)));
		}
		catch (IllegalArgumentException | DataIntegrityViolationException | ConcurrencyFailureException ex) {
			// The database has undone the statement.
			return null;
		}
		catch (CannotGetJdbcConnectionException | CannotCreateTransactionException ex) {
			if (Thread.currentThread().isInterrupted()) {
				// The interrupt of one caller ended the wait for a connection.
				return null;
			}
			throw ex;
		}
	}

	private static List<Enqueued> inOrder(List<NewTask> tasks, Map<String, Enqueued> stored) {
		return tasks.stream().map((task) -> Objects.requireNonNull(stored.get(task.id()))).toList();
	}

	/** No batch has a key twice. The order of the keys avoids deadlocks. */
	private static List<List<NewTask>> batches(List<NewTask> tasks) {
		Map<TaskId, Integer> times = new HashMap<>();
		Map<Integer, List<NewTask>> rounds = tasks.stream()
			.sorted(BY_KEY)
			.collect(Collectors.groupingBy(
					(task) -> (task.key() == null) ? 1
							: times.merge(new TaskId(task.name(), task.key()), 1, Integer::sum),
					TreeMap::new, Collectors.toList()));
		List<List<NewTask>> batches = new ArrayList<>();
		for (List<NewTask> round : rounds.values()) {
			for (int i = 0; i < round.size(); i += MAX_BATCH) {
				batches.add(round.subList(i, Math.min(round.size(), i + MAX_BATCH)));
			}
		}
		return batches;
	}

	private Map<String, Enqueued> storeBatches(Session session, List<List<NewTask>> batches) {
		Map<String, Enqueued> stored = new HashMap<>();
		for (List<NewTask> batch : batches) {
			// Two ways in one batch would lock the keys in two orders.
			stored.putAll(batch.stream().allMatch(this::overwrites) ? upsert(session, batch, null)
					: lockAndWrite(session, batch, session.joined));
		}
		return stored;
	}

	/** Whether one statement stores a task, since nothing depends on the pending one. */
	private boolean overwrites(NewTask task) {
		return this.database.dialect().isPostgres() && task.maxWait() == null
				&& (task.key() == null || task.ifPending() == IfPending.REPLACE);
	}

	private Map<String, Enqueued> upsert(Session session, List<NewTask> tasks, @Nullable String lockTimeout) {
		boolean keyed = tasks.stream().anyMatch((task) -> task.key() != null);
		List<Enqueued> stored = session.query(keyed ? UPSERT : INSERT_UNKEYED,
				(rs, rowNum) -> new Enqueued(rs.getBoolean(4) ? Outcome.REPLACED : Outcome.INSERTED, rs.getString(1),
						rs.getLong(2), rs.getLong(3)),
				this.database.givenTime(), lockTimeout, strings(tasks, NewTask::id), strings(tasks, NewTask::name),
				strings(tasks, NewTask::key), strings(tasks, NewTask::payload), strings(tasks, NewTask::traceparent),
				tasks.stream().map((task) -> task.due().absolute()).toArray(Boolean[]::new),
				tasks.stream()
					.map((task) -> Math.min(task.due().millis(), DelayedTaskStore.MAX_TIME))
					.toArray(Long[]::new));
		return stored.stream().collect(Collectors.toMap(Enqueued::id, Function.identity()));
	}

	private static @Nullable String[] strings(List<NewTask> tasks, Function<NewTask, @Nullable String> value) {
		return tasks.stream().map(value).toArray(String[]::new);
	}

	/**
	 * Locks the pending tasks, and then inserts the others in the order of their keys. A
	 * task whose key another transaction has stored meanwhile follows in the next round.
	 * @param patient whether there is a next round. Who has inserted tasks and waits for
	 * a lock may be part of a deadlock, which H2 does not notice, so a call with many
	 * tasks begins anew instead, unless it is in a transaction of its caller
	 */
	private static Map<String, Enqueued> lockAndWrite(Session session, List<NewTask> tasks, boolean patient) {
		Dialect dialect = session.dialect();
		Map<String, Enqueued> results = new HashMap<>();
		List<NewTask> open = tasks;
		long now = session.now();
		for (int round = 0; !open.isEmpty(); round++) {
			if (round == (patient ? MAX_ROUNDS : 1)) {
				throw new CannotAcquireLockException("Other transactions have stored tasks with the same keys");
			}
			Map<TaskId, TaskRow> pending = lockPending(session, open, round > 0);
			List<Object[]> replacements = new ArrayList<>();
			List<TaskRow> inserts = new ArrayList<>();
			for (NewTask task : open) {
				TaskRow earlier = (task.key() != null) ? pending.get(new TaskId(task.name(), task.key())) : null;
				if (earlier == null) {
					TaskRow row = new TaskRow(task.id(), task.name(), task.key());
					results.put(task.id(), put(task, row, null, now));
					inserts.add(row);
				}
				else if (task.replaces()) {
					results.put(task.id(), put(task, earlier, earlier.dueAt, now));
					replacements.add(earlier.replacement(dialect, task.id(), now));
				}
				else {
					results.put(task.id(), new Enqueued(Outcome.PENDING, earlier.id, earlier.dueAt, now));
				}
			}
			session.batch(TaskRow.REPLACE, replacements);
			Set<String> taken = session.insert(inserts, now);
			open = open.stream().filter((task) -> taken.contains(task.id())).toList();
		}
		return results;
	}

	/** Puts a task into a new row, or into that of the pending task that it replaces. */
	private static Enqueued put(NewTask task, TaskRow row, @Nullable Long pendingDueAt, long now) {
		row.firstAt = (row.deliveries == 0) ? row.firstAt : null;
		if (row.firstAt == null && task.maxWait() != null) {
			row.firstAt = now;
		}
		row.schedule(task.dueAt(now, pendingDueAt, (row.firstAt != null) ? row.firstAt : now));
		row.reset();
		row.fence = (pendingDueAt != null) ? row.nextFence(now) : row.fence;
		row.payload = task.payload();
		row.traceparent = task.traceparent();
		return new Enqueued((pendingDueAt != null) ? Outcome.REPLACED : Outcome.INSERTED, task.id(), row.dueAt, now);
	}

	/**
	 * Looks up the keys, and then locks the rows by their ids. In MySQL, a lock by an
	 * absent key would also lock its neighbours.
	 * @param current whether to find the current rows even with "repeatable read"
	 */
	private static Map<TaskId, TaskRow> lockPending(Session session, List<NewTask> tasks, boolean current) {
		Dialect dialect = session.dialect();
		Map<String, List<Object>> keys = new TreeMap<>();
		for (NewTask task : tasks) {
			if (task.key() != null) {
				keys.computeIfAbsent(task.name(), (name) -> new ArrayList<>())
					.add(dialect.text(TaskRow.heldKey(task.key(), false)));
			}
		}
		String look = "select id from {task} where name = ? and held_key {in}" + (current ? " for update" : "");
		List<String> ids = new ArrayList<>();
		keys.forEach((name, held) -> ids.addAll(session.strings(look, dialect.text(name), held)));
		List<TaskRow> rows = ids.isEmpty() ? List.of() : session.rows(LOCK_PENDING, ids);
		if (rows.size() < ids.size() && !current) {
			// Another transaction has replaced a task, which gave its row another id.
			return lockPending(session, tasks, true);
		}
		return rows.stream()
			.collect(Collectors.toMap((row) -> new TaskId(row.name, Objects.requireNonNull(row.key)),
					Function.identity()));
	}

}
