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

import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.support.DataAccessUtils;

/**
 * Claims tasks of names whose starts are limited over all nodes: lock the row of the
 * name, take ended runs away, count, begin. So no two claims of a name run at the same
 * time. No place is stored: a running task has its place until it is settled or its lease
 * has ended, and a suspect from its claim on. Thread-safe.
 */
final class NameLimits {

	private static final int LOCK_ATTEMPTS = 4;

	private static final long MAX_LOCK_PAUSE = TimeUnit.MILLISECONDS.toNanos(3);

	/** How long after failed attempts to lock a name the next claim tries again. */
	private static final long LOCKED_MILLIS = 20;

	// The conditions on the next time keep each count within its queue in the index.
	private static final String COUNT = "(select count(*) from {task} where name = ? and queue = %s and next_at %s ?%s)";

	private static final String COUNT_WAITING = "select " + COUNT.formatted("{running}", "<=", "") + ", "
			+ COUNT.formatted("{suspect}", "<=", "");

	private static final String COUNT_TAKEN = ", " + COUNT.formatted("{running}", ">", "") + " + "
			+ COUNT.formatted("{suspect}", ">", " and owner is not null");

	/** The outer query reads the time after the wait for the lock. */
	private static final String LOCK = """
			select next_start, coalesce(?, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
			from (select next_start from {name} where name = ?
				and set_config('lock_timeout', '100ms', true) is not null
				and set_config('idle_in_transaction_session_timeout', '%s', true) is not null for update) locked""";

	private static final String KEYS = "select task_key from {task} where name = ? and task_key is not null and queue = ";

	private final Database database;

	private final TaskNames names;

	private final Claims.Steps steps;

	NameLimits(Database database, TaskNames names, Claims.Steps steps) {
		this.database = database;
		this.names = names;
		this.steps = steps;
	}

	Taken take(Claim claim, String name, int room) {
		int most = Math.min(room, claim.share(name).due());
		return (most > 0) ? locked(claim, name, (row) -> row.take(most))
				: new Taken(List.of(), Claim.NEVER, true, false);
	}

	/**
	 * Leases the first suspect of a name, with or without limits. With limits it has a
	 * free place, and does not have to wait for another task with its key.
	 */
	Taken takeSuspect(Claim claim, String name) {
		if (claim.isLimited(name)) {
			return locked(claim, name, LockedName::takeSuspect);
		}
		return this.database.node().transaction((session) -> {
			long now = session.now();
			List<TaskRow> found = claim.lockFirst(session, name, "{suspect}", now, now, 1);
			return new Taken(claim.lease(session, found, now, false), Claim.NEVER, false, false);
		});
	}

	private Taken locked(Claim claim, String name, Function<LockedName, Taken> take) {
		for (int i = 0; i < LOCK_ATTEMPTS; i++) {
			try {
				Taken taken = this.database.node().<@Nullable Taken>once(false, (session) -> {
					LockedName row = lock(session, claim, name);
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
	 */
	private @Nullable LockedName lock(Session session, Claim claim, String name) {
		Object text = session.dialect().text(name);
		Long given = session.statements().givenTime();
		if (session.dialect().isPostgres()) {
			// The clock of a test may stop the node for as long as it likes.
			return DataAccessUtils.singleResult(session.query(LOCK.formatted((given != null) ? "0" : "2s"),
					(rs, rowNum) -> new LockedName(session, claim, name, rs.getLong(1), rs.getLong(2)), given, text));
		}
		Long nextStart = DataAccessUtils
			.singleResult(session.query(session.dialect().lockFirst("next_start", "{name} where name = ?", 1),
					(rs, rowNum) -> rs.getLong(1), text));
		return (nextStart != null) ? new LockedName(session, claim, name, nextStart, session.now()) : null;
	}

	private final class LockedName {

		private final Session session;

		private final Claim claim;

		private final String name;

		private final Object text;

		private final Share share;

		private final StartLimits limits;

		private final long nextStart;

		private final long now;

		/** How many tasks may begin. */
		private int free = Integer.MAX_VALUE;

		private boolean suspects;

		private boolean ended;

		/** Whether due tasks wait for others with their keys. */
		private boolean waits;

		LockedName(Session session, Claim claim, String name, long nextStart, long now) {
			this.session = session;
			this.claim = claim;
			this.name = name;
			this.text = session.dialect().text(name);
			this.share = claim.share(name);
			this.limits = Objects.requireNonNull(this.share.limits());
			this.nextStart = nextStart;
			this.now = now;
		}

		Taken take(int most) {
			List<LeasedTask> tasks = new ArrayList<>(takeExpired(most));
			int room = most - tasks.size();
			if (room == 0) {
				return new Taken(tasks, Claim.NEVER, true, false);
			}
			count();
			// Some node takes a suspect soon. Without a free place the suspect could wait
			// for ever.
			int places = Math.max(0, this.free - (this.suspects ? 1 : 0));
			Taken taken = start(Math.min(room, places), (starts) -> (this.limits.perKey() > 0) ? begin(starts)
					: NameLimits.this.steps.begin(this.session, this.claim, this.name, starts));
			int begun = taken.tasks().size();
			tasks.addAll(taken.tasks());
			return new Taken(tasks, taken.startAt(), this.waits || begun == places || begun == room, this.ended);
		}

		Taken takeSuspect() {
			count();
			return start(Math.min(1, this.free), this::leaseSuspect);
		}

		// What is too late to start counts for no limit.
		private List<LeasedTask> takeExpired(int most) {
			if (this.share.expireAfter() == null) {
				return List.of();
			}
			long until = this.now - Session.millis(this.share.expireAfter()) - 1;
			return (this.claim.look(this.name).dueAt() > until) ? List.of() : this.claim.lease(this.session,
					this.claim.lockFirst(this.session, this.name, "{pending}", this.now, until, most), this.now, false);
		}

		/**
		 * Counts the places, and takes ended runs away. In MariaDB a search that locked
		 * ended runs would also lock others, and their nodes could not settle them.
		 */
		private void count() {
			boolean concurrent = this.limits.concurrent() > 0;
			List<Object> parameters = new ArrayList<>();
			for (int i = 0; i < (concurrent ? 4 : 2); i++) {
				parameters.addAll(List.of(this.text, this.now));
			}
			this.session.query(COUNT_WAITING + (concurrent ? COUNT_TAKEN : ""), (rs, rowNum) -> {
				this.ended = rs.getInt(1) > 0;
				this.suspects = this.ended || rs.getInt(2) > 0;
				this.free = concurrent ? Math.max(0, this.limits.concurrent() - rs.getInt(3)) : this.free;
				return this.free;
			}, parameters.toArray());
			if (this.ended) {
				Claim.lose(this.session, this.name, this.now);
			}
		}

		private Taken start(int most, Function<Integer, List<LeasedTask>> take) {
			boolean hasRate = this.limits.intervalMicros() > 0;
			long micros = TaskRow.micros(this.now);
			long next = hasRate ? this.limits.atMost(this.nextStart, micros) : this.nextStart;
			int starts = this.limits.startsAllowed(next, micros);
			List<LeasedTask> tasks = (most > 0 && starts > 0) ? take.apply(Math.min(most, starts)) : List.of();
			if (!tasks.isEmpty() && hasRate) {
				next = this.limits.nextStart(next, micros, tasks.size());
			}
			if (next != this.nextStart) {
				this.session.update("update {name} set next_start = ? where name = ?", next, this.text);
			}
			long startAt = (starts <= tasks.size()) ? this.limits.startsAgainAt(next) : Claim.NEVER;
			return new Taken(tasks, startAt, false, this.ended);
		}

		/**
		 * Begins the first tasks whose keys have fewer running tasks than they may have.
		 * A task waits for all suspects with its key, so that the tasks of a key run in
		 * their order.
		 */
		private List<LeasedTask> begin(int most) {
			Map<String, Integer> busy = new HashMap<>();
			countKeys("{running} and next_at > ?", busy);
			countKeys("{suspect} and next_at > ?", busy);
			countKeys("{suspect} and next_at <= ?", busy);
			// A key has at most two pending tasks, of which one has a schedule. So for
			// each busy task at most two wait.
			List<TaskRow> found = lockFirst("{pending}", most + 2 * sum(busy));
			List<TaskRow> chosen = withoutBusyKeys(found, busy, most);
			this.waits = chosen.size() < Math.min(found.size(), most);
			return this.claim.lease(this.session, chosen, this.now, true);
		}

		/**
		 * Leases the first suspect that may start. Lost runs of a key do not wait for
		 * each other: only the tasks that a node has count.
		 */
		private List<LeasedTask> leaseSuspect(int most) {
			Map<String, Integer> busy = new HashMap<>();
			if (this.limits.perKey() > 0) {
				countKeys("{running} and next_at > ?", busy);
				countKeys("{suspect} and next_at > ? and owner is not null", busy);
			}
			List<TaskRow> found = lockFirst("{suspect}", most + sum(busy));
			return this.claim.lease(this.session, withoutBusyKeys(found, busy, most), this.now, false);
		}

		private List<TaskRow> lockFirst(String queue, int most) {
			return this.claim.lockFirst(this.session, this.name, queue, this.now, this.now, most);
		}

		private void countKeys(String queue, Map<String, Integer> busy) {
			this.session.texts(KEYS + queue, this.text, this.now).forEach((key) -> busy.merge(key, 1, Integer::sum));
		}

		private static int sum(Map<String, Integer> busy) {
			return busy.values().stream().mapToInt(Integer::intValue).sum();
		}

		// A task that is chosen counts for the tasks after it.
		private List<TaskRow> withoutBusyKeys(List<TaskRow> found, Map<String, Integer> busy, int most) {
			int perKey = this.limits.perKey();
			return found.stream()
				.filter((row) -> row.key == null || perKey == 0 || busy.merge(row.key, 1, Integer::sum) <= perKey)
				.limit(most)
				.toList();
		}

	}

	/**
	 * What a claim has taken of a name; see {@link Claim}.
	 */
	record Taken(List<LeasedTask> tasks, long startAt, boolean more, boolean newSuspects) {

	}

}
