package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.support.DataAccessUtils;

/**
 * Claims tasks of names whose starts are limited over all nodes, in one way on all
 * databases: lock the row of the name, take ended runs away, count, begin. So no two
 * claims of a name run at the same time, and the first tasks of the name start first. No
 * place is stored: a running task has its place until it is settled or its lease has
 * ended, and a suspect from its claim on. So no lost reply, and no node that ends, makes
 * the number of places wrong. Thread-safe.
 */
final class NameLimits {

	private static final int LOCK_ATTEMPTS = 4;

	private static final long MAX_LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(3);

	/** How long after failed attempts to lock a name the next claim tries again. */
	private static final long LOCKED_MILLIS = 20;

	private static final String COUNT = "(select count(*) from {task} where name = ? and queue = %s and next_at %s ?%s)";

	private static final String COUNT_WAITING = "select " + COUNT.formatted("{running}", "<=", "") + ", "
			+ COUNT.formatted("{suspect}", "<=", "");

	private static final String COUNT_TAKEN = ", " + COUNT.formatted("{running}", ">", "") + " + "
			+ COUNT.formatted("{suspect}", ">", " and owner is not null");

	private final Database database;

	private final TaskNames names;

	private final ClaimSteps steps;

	NameLimits(Database database, TaskNames names, ClaimSteps steps) {
		this.database = database;
		this.names = names;
		this.steps = steps;
	}

	/**
	 * Leases tasks that are too late to start. This needs no lock of the name, since
	 * these tasks do not count.
	 * @param room how many tasks to take at most
	 */
	List<LeasedTask> takeExpired(ClaimRequest request, String name, long expireMillis, int room) {
		return this.database.node().transaction((session) -> {
			long now = session.now();
			return ClaimedRows.lease(session, request,
					ClaimedRows.lockFirst(session, request, name, "{pending}", now, now - expireMillis - 1, room), now,
					false);
		});
	}

	/**
	 * Begins due tasks of a name.
	 * @param room how many tasks to take at most
	 * @param since where to begin to search
	 */
	Taken take(ClaimRequest request, String name, int room, long since) {
		return locked(name, (row) -> {
			Places places = places(row, limits(request, name).concurrent());
			// Some node takes a suspect soon. Without a free place the suspect could wait
			// for ever.
			int free = Math.max(0, places.free() - (places.suspects() ? 1 : 0));
			return take(row, request, false, room, free, places.ended(), since);
		});
	}

	/**
	 * Leases the first suspect of a name, with or without limits. With limits it has a
	 * free place, and does not have to wait for another task with its key. Lost runs of a
	 * key do not wait for each other: only the tasks that a node has count.
	 */
	Taken takeSuspect(ClaimRequest request, String name) {
		if (Objects.requireNonNull(request.names().get(name)).limits() == null) {
			return this.database.node().transaction((session) -> {
				long now = session.now();
				List<TaskRow> found = ClaimedRows.lockFirst(session, request, name, "{suspect}", now, now, 1);
				return new Taken(ClaimedRows.lease(session, request, found, now, false), Long.MAX_VALUE, false, false);
			});
		}
		return locked(name, (row) -> {
			Places places = places(row, limits(request, name).concurrent());
			return take(row, request, true, 1, places.free(), places.ended(), 0);
		});
	}

	private static StartLimits limits(ClaimRequest request, String name) {
		return Objects.requireNonNull(Objects.requireNonNull(request.names().get(name)).limits());
	}

	/**
	 * Takes tasks of a name, and counts their starts in its rate.
	 * @param free how many places are free
	 * @param ended whether leases of runs had ended
	 */
	private Taken take(LockedName row, ClaimRequest request, boolean suspect, int room, int free, boolean ended,
			long since) {
		StartLimits limits = limits(request, row.name);
		boolean hasRate = limits.intervalMicros() > 0;
		long micros = TaskRow.micros(row.now);
		long next = hasRate ? limits.atMost(row.nextStart, micros) : row.nextStart;
		int starts = limits.startsAllowed(next, micros);
		int most = Math.min(room, Math.min(free, starts));
		List<LeasedTask> tasks = List.of();
		boolean waits = false;
		if (most > 0 && (suspect || limits.perKey() > 0)) {
			Map<String, Integer> busy = (limits.perKey() > 0) ? busyKeys(row, !suspect) : Map.of();
			int others = busy.values().stream().mapToInt(Integer::intValue).sum();
			// A key has at most two pending tasks, of which one has a schedule. So for
			// each busy task at most two wait.
			List<TaskRow> found = ClaimedRows.lockFirst(row.session, request, row.name,
					suspect ? "{suspect}" : "{pending}", row.now, row.now, most + (suspect ? others : 2 * others));
			List<TaskRow> chosen = withoutBusyKeys(found, busy, limits, most);
			waits = chosen.size() < Math.min(found.size(), most);
			tasks = ClaimedRows.lease(row.session, request, chosen, row.now, !suspect);
		}
		else if (most > 0) {
			tasks = this.steps.begin(row.session, request, row.name, most, since);
		}
		if (!tasks.isEmpty() && hasRate) {
			next = limits.nextStart(next, micros, tasks.size());
		}
		if (next != row.nextStart) {
			row.session.update("update {name} set next_start = ? where name = ?", next, row.text);
		}
		return new Taken(tasks, (starts <= tasks.size()) ? limits.startsAgainAt(next) : Long.MAX_VALUE,
				!suspect && (waits || tasks.size() == free), ended);
	}

	/**
	 * Takes tasks of a name while its row is locked.
	 */
	private Taken locked(String name, Function<LockedName, Taken> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			try {
				Taken taken = this.database.node().<@Nullable Taken>once((session) -> {
					LockedName row = lock(session, name);
					return (row != null) ? take.apply(row) : null;
				});
				if (taken != null) {
					return taken;
				}
			}
			catch (ConcurrencyFailureException ex) {
				// Other nodes have the lock.
			}
			// The row is locked, or does not exist yet.
			this.names.create(name);
			LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_LOCK_PAUSE));
		}
		long now = this.database.node().single(Session::now);
		return new Taken(List.of(), now + LOCKED_MILLIS, true, false);
	}

	/**
	 * Locks the row of a name. PostgreSQL waits for the lock, which costs less than
	 * further attempts, and ends the transaction if its node is silent for some seconds.
	 * @return {@code null} if the row is locked or does not exist
	 */
	private static @Nullable LockedName lock(Session session, String name) {
		String row = "{name} where name = ?";
		String sql = session.dialect().lockFirst("next_start", row, 1);
		if (session.dialect().isPostgres()) {
			// The clock of a test may stop the node for as long as it likes.
			String ends = session.statements().isTimeGiven() ? ""
					: " and set_config('idle_in_transaction_session_timeout', '2s', true) is not null";
			sql = "select next_start from " + row + " and set_config('lock_timeout', '100ms', true) is not null" + ends
					+ " for update";
		}
		Object text = session.dialect().text(name);
		Long nextStart = DataAccessUtils.singleResult(session.query(sql, (rs, rowNum) -> rs.getLong(1), text));
		return (nextStart != null) ? new LockedName(session, name, text, nextStart, session.now()) : null;
	}

	/**
	 * Counts the places, and takes ended runs away. A search for ended runs that locked
	 * rows would also lock the first of the other runs in MariaDB, and their nodes could
	 * not settle them. The conditions on the next time keep each count within its queue
	 * in the index.
	 * @param concurrent how many tasks may run, 0 for any number
	 */
	private static Places places(LockedName row, int concurrent) {
		List<Object> parameters = new ArrayList<>();
		for (int i = 0; i < ((concurrent == 0) ? 2 : 4); i++) {
			parameters.addAll(List.of(row.text, row.now));
		}
		Places places = DataAccessUtils
			.requiredSingleResult(row.session.query(COUNT_WAITING + ((concurrent == 0) ? "" : COUNT_TAKEN),
					(rs, rowNum) -> new Places(
							(concurrent == 0) ? Integer.MAX_VALUE : Math.max(0, concurrent - rs.getInt(3)),
							rs.getInt(1) + rs.getInt(2) > 0, rs.getInt(1) > 0),
					parameters.toArray()));
		if (places.ended()) {
			ClaimedRows.lose(row.session, row.name, row.now);
		}
		return places;
	}

	/**
	 * How many tasks have each key: the running tasks and the leased suspects. A task
	 * waits for the suspects with its key, so that the tasks of a key run in their order.
	 * @param waiting whether the suspects that no node has count too
	 */
	private static Map<String, Integer> busyKeys(LockedName row, boolean waiting) {
		Map<String, Integer> keys = new HashMap<>();
		List<String> queues = new ArrayList<>(List.of("queue = {running} and next_at > ?",
				"queue = {suspect} and next_at > ?" + (waiting ? "" : " and owner is not null")));
		if (waiting) {
			queues.add("queue = {suspect} and next_at <= ?");
		}
		for (String queue : queues) {
			row.session
				.texts("select task_key from {task} where name = ? and task_key is not null and " + queue, row.text,
						row.now)
				.forEach((key) -> keys.merge(key, 1, Integer::sum));
		}
		return keys;
	}

	/**
	 * Chooses the first tasks whose keys have fewer running tasks than they may have. A
	 * task that is chosen counts as running for the tasks after it.
	 */
	private static List<TaskRow> withoutBusyKeys(List<TaskRow> found, Map<String, Integer> busy, StartLimits limits,
			int most) {
		Map<String, Integer> running = new HashMap<>(busy);
		List<TaskRow> chosen = new ArrayList<>();
		for (TaskRow row : found) {
			String key = (limits.perKey() > 0) ? row.key : null;
			if (chosen.size() < most && (key == null || running.getOrDefault(key, 0) < limits.perKey())) {
				chosen.add(row);
				if (key != null) {
					running.merge(key, 1, Integer::sum);
				}
			}
		}
		return chosen;
	}

	/**
	 * A name whose row the transaction has locked.
	 *
	 * @param text the name as the parameter of a statement
	 * @param nextStart when its rate allows the next start, in microseconds
	 */
	private record LockedName(Session session, String name, Object text, long nextStart, long now) {

	}

	/**
	 * The places of a name.
	 *
	 * @param free how many tasks may begin, {@link Integer#MAX_VALUE} for any number
	 * @param suspects whether suspects wait
	 * @param ended whether leases of runs had ended
	 */
	private record Places(int free, boolean suspects, boolean ended) {

	}

	/**
	 * What a claim has taken of a name.
	 *
	 * @param startAt when the rate allows the next start, {@link Long#MAX_VALUE} if tasks
	 * may start now
	 * @param waits whether due tasks may wait until others end
	 * @param newSuspects whether leases of runs had ended
	 */
	record Taken(List<LeasedTask> tasks, long startAt, boolean waits, boolean newSuspects) {

	}

}
