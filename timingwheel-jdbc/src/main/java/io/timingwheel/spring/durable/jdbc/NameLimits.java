package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

import io.timingwheel.spring.durable.jdbc.ClaimedRows.Found;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.support.DataAccessUtils;
import org.springframework.jdbc.core.JdbcOperations;

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

	private final Database database;

	private final TaskNames names;

	private final ClaimSteps steps;

	private final ClaimedRows rows;

	NameLimits(Database database, TaskNames names, ClaimSteps steps) {
		this.database = database;
		this.names = names;
		this.steps = steps;
		this.rows = new ClaimedRows(database);
	}

	/**
	 * Leases tasks that are too late to start. This needs no lock of the name, since
	 * these tasks do not count.
	 * @param room how many tasks to take at most
	 */
	List<LeasedTask> takeExpired(ClaimRequest request, String name, long expireMillis, int room) {
		return this.database.node().transaction((jdbc) -> {
			long now = this.database.now(jdbc);
			return this.rows.lease(jdbc, request,
					this.rows.lockFirst(jdbc, request, name, "{pending}", now, now - expireMillis - 1, room), now,
					false);
		});
	}

	/**
	 * Begins due tasks of a name.
	 * @param room how many tasks to take at most
	 * @param since where to begin to search
	 */
	Taken take(ClaimRequest request, String name, int room, long since) {
		return locked(name, (claim) -> {
			Places places = claim.places(request);
			StartLimits limits = claim.limits(request);
			// Some node takes a suspect soon. Without a free place the suspect could wait
			// for ever.
			int free = Math.max(0, places.free() - (places.suspects() ? 1 : 0));
			int starts = claim.startsAllowed(limits);
			int most = Math.min(room, Math.min(free, starts));
			if (limits.perKey() > 0) {
				return claim.takeByKey(request, most, free, places.ended());
			}
			List<LeasedTask> tasks = (most > 0) ? this.steps.begin(claim.jdbc, request, name, most, since) : List.of();
			return claim.taken(limits, tasks, starts, tasks.size() == free, places.ended());
		});
	}

	/**
	 * Leases the first suspect that does not have to wait for another task with its key,
	 * if there is a free place. Lost runs of a key do not wait for each other: only the
	 * tasks that a node has count.
	 */
	Taken takeSuspect(ClaimRequest request, String name) {
		return locked(name, (claim) -> {
			Places places = claim.places(request);
			StartLimits limits = claim.limits(request);
			int starts = claim.startsAllowed(limits);
			List<Found> chosen = List.of();
			if (places.free() > 0 && starts > 0) {
				Map<String, Integer> keys = claim.busyKeys(limits, false);
				chosen = withoutBusyKeys(claim.lockFirst(request, "{suspect}", 1 + sum(keys)), keys, limits, 1);
			}
			return claim.taken(limits, this.rows.lease(claim.jdbc, request, chosen, claim.now, false), starts, false,
					places.ended());
		});
	}

	/**
	 * Takes tasks of a name while its row is locked.
	 */
	private Taken locked(String name, Function<LockedName, Taken> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			try {
				Taken taken = this.database.node().<@Nullable Taken>once((jdbc) -> {
					Long nextStart = lock(jdbc, name);
					return (nextStart != null) ? take.apply(new LockedName(jdbc, name, nextStart)) : null;
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
		long now = this.database.node().single(this.database::now);
		return new Taken(List.of(), now + LOCKED_MILLIS, true, false);
	}

	/**
	 * Locks the row of a name. PostgreSQL waits for the lock, which costs less than
	 * further attempts, and ends the transaction if its node is silent for some seconds.
	 * @return the stored value of the next start, {@code null} if the row is locked or
	 * does not exist
	 */
	private @Nullable Long lock(JdbcOperations jdbc, String name) {
		String row = this.database.sql("{name} where name = ?");
		String sql = this.database.dialect().lockFirst("next_start", row, 1);
		if (this.database.dialect().isPostgres()) {
			// The clock of a test may stop the node for as long as it likes.
			String ends = this.database.isTimeGiven() ? ""
					: " and set_config('idle_in_transaction_session_timeout', '2s', true) is not null";
			sql = "select next_start from " + row + " and set_config('lock_timeout', '100ms', true) is not null" + ends
					+ " for update";
		}
		return DataAccessUtils
			.singleResult(jdbc.query(sql, (rs, rowNum) -> rs.getLong(1), this.database.dialect().text(name)));
	}

	private static int sum(Map<String, Integer> counts) {
		return counts.values().stream().mapToInt(Integer::intValue).sum();
	}

	/**
	 * Chooses the first tasks whose keys have fewer running tasks than they may have. A
	 * task that is chosen counts as running for the tasks after it.
	 */
	private static List<Found> withoutBusyKeys(List<Found> found, Map<String, Integer> busy, StartLimits limits,
			int most) {
		Map<String, Integer> running = new HashMap<>(busy);
		List<Found> chosen = new ArrayList<>();
		for (Found task : found) {
			String key = (limits.perKey() > 0) ? task.row().key() : null;
			if (chosen.size() < most && (key == null || running.getOrDefault(key, 0) < limits.perKey())) {
				chosen.add(task);
				if (key != null) {
					running.merge(key, 1, Integer::sum);
				}
			}
		}
		return chosen;
	}

	/**
	 * A name whose row the transaction has locked.
	 */
	private final class LockedName {

		private final JdbcOperations jdbc;

		private final String name;

		private final Object text;

		private final long storedNextStart;

		private final long now;

		LockedName(JdbcOperations jdbc, String name, long nextStart) {
			this.jdbc = jdbc;
			this.name = name;
			this.text = NameLimits.this.database.dialect().text(name);
			this.storedNextStart = nextStart;
			this.now = NameLimits.this.database.now(jdbc);
		}

		StartLimits limits(ClaimRequest request) {
			return Objects.requireNonNull(Objects.requireNonNull(request.names().get(this.name)).limits());
		}

		/**
		 * Counts the places, and takes ended runs away. A search for ended runs that
		 * locked rows would also lock the first of the other runs in MariaDB, and their
		 * nodes could not settle them. The conditions on the next time keep each count
		 * within its queue in the index.
		 */
		Places places(ClaimRequest request) {
			int concurrent = limits(request).concurrent();
			String count = "(select count(*) from {task} where name = ? and queue = %s and next_at %s ?%s)";
			String sql = "select " + count.formatted("{running}", "<=", "") + " as ended, "
					+ count.formatted("{suspect}", "<=", "") + " as suspects, "
					+ ((concurrent == 0) ? "0" : count.formatted("{running}", ">", "") + " + "
							+ count.formatted("{suspect}", ">", " and owner is not null"))
					+ " as taken";
			Object[] all = { this.text, this.now, this.text, this.now, this.text, this.now, this.text, this.now };
			Places places = Objects.requireNonNull(this.jdbc.queryForObject(NameLimits.this.database.sql(sql),
					(rs, rowNum) -> new Places(
							(concurrent == 0) ? Integer.MAX_VALUE : Math.max(0, concurrent - rs.getInt("taken")),
							rs.getInt("suspects") + rs.getInt("ended") > 0, rs.getInt("ended") > 0),
					(concurrent == 0) ? Arrays.copyOf(all, 4) : all));
			if (places.ended()) {
				NameLimits.this.rows.lose(this.jdbc, this.name, this.now);
			}
			return places;
		}

		private long nextStart(StartLimits limits) {
			return (limits.intervalMicros() > 0) ? limits.atMost(this.storedNextStart, TaskRow.micros(this.now))
					: this.storedNextStart;
		}

		int startsAllowed(StartLimits limits) {
			return limits.startsAllowed(nextStart(limits), TaskRow.micros(this.now));
		}

		List<Found> lockFirst(ClaimRequest request, String queue, int limit) {
			return NameLimits.this.rows.lockFirst(this.jdbc, request, this.name, queue, this.now, this.now, limit);
		}

		/**
		 * Begins the first tasks whose keys are not busy. A task waits for the suspects
		 * with its key, so that the tasks of a key run in their order. A key has at most
		 * two pending tasks, of which one has a schedule. So for each busy one at most
		 * two tasks wait.
		 */
		Taken takeByKey(ClaimRequest request, int most, int free, boolean ended) {
			StartLimits limits = limits(request);
			Map<String, Integer> keys = (most > 0) ? busyKeys(limits, true) : Map.of();
			List<Found> found = (most > 0) ? lockFirst(request, "{pending}", most + 2 * sum(keys)) : List.of();
			List<Found> chosen = withoutBusyKeys(found, keys, limits, most);
			boolean waits = chosen.size() == free || chosen.size() < Math.min(found.size(), most);
			return taken(limits, NameLimits.this.rows.lease(this.jdbc, request, chosen, this.now, true),
					startsAllowed(limits), waits, ended);
		}

		/**
		 * How many tasks have each key: the running tasks and the leased suspects.
		 * @param waiting whether the suspects that no node has count too
		 */
		Map<String, Integer> busyKeys(StartLimits limits, boolean waiting) {
			Map<String, Integer> keys = new HashMap<>();
			if (limits.perKey() > 0) {
				count("queue = {running} and next_at > ?", keys);
				count("queue = {suspect} and next_at > ?" + (waiting ? "" : " and owner is not null"), keys);
				if (waiting) {
					count("queue = {suspect} and next_at <= ?", keys);
				}
			}
			return keys;
		}

		private void count(String condition, Map<String, Integer> keys) {
			Dialect dialect = NameLimits.this.database.dialect();
			this.jdbc.query(
					NameLimits.this.database
						.sql("select task_key from {task} where name = ? and task_key is not null and " + condition),
					(rs) -> {
						keys.merge(String.valueOf(dialect.text(rs, "task_key")), 1, Integer::sum);
					}, this.text, this.now);
		}

		/**
		 * Counts the starts of the tasks in the rate.
		 * @param starts how many tasks the rate allowed to start
		 * @param waits whether due tasks may wait until others end
		 */
		Taken taken(StartLimits limits, List<LeasedTask> tasks, int starts, boolean waits, boolean ended) {
			long next = nextStart(limits);
			if (!tasks.isEmpty() && limits.intervalMicros() > 0) {
				next = limits.nextStart(next, TaskRow.micros(this.now), tasks.size());
			}
			if (next != this.storedNextStart) {
				this.jdbc.update(NameLimits.this.database.sql("update {name} set next_start = ? where name = ?"), next,
						this.text);
			}
			return new Taken(tasks, (starts <= tasks.size()) ? limits.startsAgainAt(next) : Long.MAX_VALUE, waits,
					ended);
		}

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
