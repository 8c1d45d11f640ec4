package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import io.timingwheel.spring.durable.store.DelayedTaskStore;

/**
 * Where a claim begins to search for the tasks of a name. PostgreSQL keeps the index
 * entries of tasks that have ended as long as any transaction may see them. A claim that
 * began with the first entry would walk over all of them. So the store remembers up to
 * which time a name has been searched.
 *
 * <p>
 * Tasks may still appear before that time: an application commits late, a node gives a
 * task back, or another transaction had locked the task. Each name is therefore swept
 * about once a second, which means that the claim begins with the first entry and also
 * looks for runs whose leases have ended. A sweep that takes long makes the next one
 * wait. Thread-safe.
 */
final class ClaimFloors {

	/** The floor of a name that a claim sweeps. */
	static final long SWEEP = -DelayedTaskStore.MAX_TIME;

	/** How far a floor stays behind the time, for transactions that commit late. */
	private static final long LATE_COMMIT_MILLIS = 1000;

	private static final long MIN_PAUSE = Duration.ofSeconds(1).toNanos();

	private static final long MAX_PAUSE = Duration.ofSeconds(10).toNanos();

	/** A claim that sweeps takes at most one of so many parts of the time. */
	private static final int SHARE = 20;

	private final boolean sweepsAlways;

	private final Map<String, Floor> floors = new HashMap<>();

	/**
	 * Creates floors.
	 * @param sweepsAlways whether each claim is a sweep, since the clock of a test may
	 * stand still
	 */
	ClaimFloors(boolean sweepsAlways) {
		this.sweepsAlways = sweepsAlways;
	}

	/**
	 * The time from which the next claim searches for tasks of a name.
	 */
	synchronized long since(String name) {
		Floor floor = this.floors.get(name);
		return (this.sweepsAlways || floor == null || System.nanoTime() - floor.sweepAt() >= 0) ? SWEEP : floor.since();
	}

	/**
	 * Learns how far a claim has searched.
	 * @param since where the claim began
	 * @param last when the last task that the claim has found was due, if there may be
	 * more; {@link Long#MAX_VALUE} if there are no more
	 * @param now the time of the claim
	 * @param nanos how long the claim took
	 */
	synchronized void searched(String name, long since, long last, long now, long nanos) {
		long floor = Math.min(last, now - LATE_COMMIT_MILLIS);
		Floor earlier = this.floors.get(name);
		long sweepAt = (since == SWEEP || earlier == null)
				? System.nanoTime() + Math.max(MIN_PAUSE, Math.min(MAX_PAUSE, SHARE * nanos)) : earlier.sweepAt();
		this.floors.put(name, new Floor(floor, sweepAt));
	}

	/**
	 * The floor of a name.
	 *
	 * @param since the time up to which the name has been searched
	 * @param sweepAt when a claim searches from the beginning again
	 */
	private record Floor(long since, long sweepAt) {

	}

}
