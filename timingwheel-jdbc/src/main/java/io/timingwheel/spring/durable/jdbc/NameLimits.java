package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

import io.timingwheel.spring.durable.store.StartLimits;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.support.DataAccessUtils;

/**
 * A name whose starts are limited over all nodes, in a transaction that has locked the
 * row of the name: count, begin. So no two claims of a name run at the same time. No
 * place is stored: a running task has its place until it is settled or its lease has
 * ended, and a suspect from its claim on.
 */
final class NameLimits {

	private static final StartLimits NONE = new StartLimits(0, 0, 0, 1);

	private static final String PLACES = "select case when next_at <= ? then 1 else 0 end as ended,"
			+ " case when owner is null then 0 else 1 end as has_owner, {key} as task_key"
			+ " from {task} where name = ? and queue = %s and next_at > -1";

	/** The condition on the next time keeps each part within its queue in the index. */
	private static final String COUNT = "select ended, has_owner, task_key, count(*) from ("
			+ PLACES.formatted("{running}") + " union all " + PLACES.formatted("{suspect}")
			+ ") places group by ended, has_owner, task_key";

	/** The outer query reads the time after the wait for the lock. */
	private static final String LOCK = """
			select coalesce(?, floor(extract(epoch from clock_timestamp()) * 1000)::bigint), next_start
			from (select next_start from {name} where name = ?
				and set_config('lock_timeout', '100ms', true) is not null
				and set_config('idle_in_transaction_session_timeout', '%s', true) is not null for update) locked""";

	private final Session session;

	private final ClaimProgress progress;

	private final String name;

	/** The time when the row was locked. */
	final long now;

	private final long nextStart;

	private final StartLimits limits;

	/** What the transaction takes, and what it tells the claim once it has committed. */
	final List<TaskRow> tasks = new ArrayList<>();

	long startAt = ClaimProgress.NEVER;

	boolean more;

	private int taken;

	/** For how many tasks of each key another one has to wait. */
	private final Map<String, Integer> takenKeys = new HashMap<>();

	private boolean suspects;

	private NameLimits(Session session, ClaimProgress progress, String name, long now, long nextStart) {
		this.session = session;
		this.progress = progress;
		this.name = name;
		this.now = now;
		this.nextStart = nextStart;
		this.limits = Objects.requireNonNullElse(progress.share(name).limits(), NONE);
	}

	/**
	 * PostgreSQL waits for the lock, which costs less than further attempts, and ends the
	 * transaction if its node is silent for some seconds.
	 */
	static @Nullable NameLimits lock(Session session, ClaimProgress progress, String name) {
		Object text = session.dialect().text(name);
		Long given = session.database.givenTime();
		// The clock of a test may stop the node for as long as it likes.
		String lock = session.dialect().isPostgres() ? LOCK.formatted((given != null) ? "0" : "2s")
				: session.dialect().lockFirst("{now}, next_start", "{name} where name = ?", 1);
		return DataAccessUtils.singleResult(session.query(lock,
				(rs, rowNum) -> new NameLimits(session, progress, name, rs.getLong(1), rs.getLong(2)), given, text));
	}

	void take(int most, Claiming claiming) {
		takeExpired(most);
		int room = most - this.tasks.size();
		if (room == 0) {
			this.more = true;
			return;
		}
		// The tasks of a key run in their order, so a task waits for its suspects.
		countPlaces(true);
		// Some node takes a suspect soon. Without a free place the suspect could wait
		// for ever.
		int places = Math.max(0, free() - (this.suspects ? 1 : 0));
		int begun = start(Math.min(room, places), (starts) -> (this.limits.perKey() > 0) ? lease("{pending}", starts)
				: claiming.begin(this.session, this.progress, this.name, this.now, starts));
		this.more |= begun == places || begun == room;
	}

	void takeSuspect() {
		countPlaces(false);
		// Lost runs of a key do not wait for each other, but many may wait for one
		// that runs.
		start(Math.min(1, free()), (starts) -> lease("{suspect}", starts));
	}

	// What is too late to start counts for no limit.
	private void takeExpired(int most) {
		Duration expireAfter = this.progress.share(this.name).expireAfter();
		long until = (expireAfter != null) ? this.now - Session.millis(expireAfter) - 1 : Long.MIN_VALUE;
		if (this.progress.look(this.name).dueAt() <= until) {
			List<TaskRow> late = this.progress.lockFirst(this.session, this.name, "{pending}", this.now, until, most);
			this.tasks.addAll(this.progress.lease(this.session, late, this.now, false));
		}
	}

	/**
	 * Counts the places that are taken.
	 * @param ofSuspects whether suspects that no node has, and runs that will be
	 * suspects, count for their keys
	 */
	private void countPlaces(boolean ofSuspects) {
		if (this.limits.concurrent() == 0 && this.limits.perKey() == 0) {
			return;
		}
		Object text = this.session.dialect().text(this.name);
		String statement = COUNT.replace("{key}", (this.limits.perKey() > 0) ? "task_key" : "null");
		this.session.forEach(statement, (rs) -> {
			boolean ended = rs.getInt(1) == 1;
			boolean takes = !ended && rs.getInt(2) == 1;
			String key = this.session.dialect().text(rs, 3);
			int count = rs.getInt(4);
			this.taken += takes ? count : 0;
			this.suspects |= ended;
			if (key != null && (takes || ofSuspects)) {
				this.takenKeys.merge(key, count, Integer::sum);
			}
		}, this.now, text, this.now, text);
	}

	private int free() {
		int concurrent = this.limits.concurrent();
		return (concurrent > 0) ? Math.max(0, concurrent - this.taken) : Integer.MAX_VALUE;
	}

	private int start(int most, IntFunction<List<TaskRow>> take) {
		boolean hasRate = this.limits.intervalMicros() > 0;
		long micros = TimeUnit.MILLISECONDS.toMicros(this.now);
		long next = hasRate ? this.limits.atMost(this.nextStart, micros) : this.nextStart;
		int starts = this.limits.startsAllowed(next, micros);
		List<TaskRow> tasks = (most > 0 && starts > 0) ? take.apply(Math.min(most, starts)) : List.of();
		if (!tasks.isEmpty() && hasRate) {
			next = this.limits.nextStart(next, micros, tasks.size());
		}
		if (next != this.nextStart) {
			this.session.update("update {name} set next_start = ? where name = ?", next,
					this.session.dialect().text(this.name));
		}
		if (starts <= tasks.size()) {
			this.startAt = this.limits.startsAgainAt(next);
		}
		this.tasks.addAll(tasks);
		return tasks.size();
	}

	/**
	 * Leases the first tasks whose keys have fewer tasks than may run. Usually few tasks
	 * wait, and each comes with its payload. So this reads as many as may start, and then
	 * four times as many, until enough may start or there are no more.
	 */
	private List<TaskRow> lease(String queue, int most) {
		int perKey = this.limits.perKey();
		for (int limit = Session.padded(most); true; limit *= 4) {
			List<TaskRow> first = this.progress.lockFirst(this.session, this.name, queue, this.now, this.now, limit);
			// A task that is chosen counts for the tasks after it.
			Map<String, Integer> keys = new HashMap<>(this.takenKeys);
			List<TaskRow> chosen = first.stream()
				.filter((row) -> row.key == null || perKey == 0 || keys.merge(row.key, 1, Integer::sum) <= perKey)
				.limit(most)
				.toList();
			if (chosen.size() == most || first.size() < limit) {
				this.more |= chosen.size() < Math.min(first.size(), most);
				return this.progress.lease(this.session, chosen, this.now, queue.equals("{pending}"));
			}
		}
	}

}
