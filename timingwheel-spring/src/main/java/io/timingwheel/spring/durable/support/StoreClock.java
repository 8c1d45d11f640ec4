package io.timingwheel.spring.durable.support;

import java.util.concurrent.TimeUnit;

import io.timingwheel.TimeSource;

/**
 * Estimates by how much the wheel's clock is ahead of the store's. Thread-safe.
 *
 * <p>
 * A reply with the store's time shows only that this was the time at some moment between
 * the request and the reply. The wheel's clock is therefore ahead by at most as much as
 * when the reply came. A node that uses this bound runs a task late by a part of what the
 * request took, and never early. The fastest reply gives the best bound. The bound stays
 * good while both clocks run at the same rate, however slow other replies are.
 *
 * <p>
 * The time before the request gives the lower bound. If the estimate is below the lower
 * bound, the store's clock was set back since, and the estimate starts again. A store may
 * have several clocks, as the primaries of a Redis Cluster are. Then the estimate is too
 * low for one of them by at most what the clocks differ by, and by at most what this
 * request took and a millisecond.
 */
final class StoreClock {

	/** Two clocks that are synchronized drift apart by at most this part of the time. */
	private static final int DRIFT = 2_000;

	/** The store rounds its time down to milliseconds. */
	private static final long ROUNDING = TimeUnit.MILLISECONDS.toNanos(1);

	private final TimeSource wheelClock;

	/** By how many nanoseconds the wheel's clock is ahead, at most. */
	private long ahead;

	/** When the store was last heard, by the wheel's clock. */
	private long heardAt;

	private boolean known;

	StoreClock(TimeSource wheelClock) {
		this.wheelClock = wheelClock;
	}

	/**
	 * The time by the wheel's clock, in nanoseconds.
	 */
	long wheelNanos() {
		return this.wheelClock.nanoTime();
	}

	/**
	 * Learns from a reply that has just come.
	 * @param now the time by the store's clock, in milliseconds, rounded down; the
	 * earliest of several clocks
	 * @param sent the time before the request, by the wheel's clock
	 * @return by how many nanoseconds the wheel's clock is ahead, for the times in this
	 * reply
	 */
	long heard(long now, long sent) {
		return heard(now, sent, wheelNanos());
	}

	synchronized long heard(long now, long sent, long received) {
		long nanos = TimeUnit.MILLISECONDS.toNanos(now);
		long drifted = this.ahead + Math.max(0, received - this.heardAt) / DRIFT;
		boolean setBack = sent - nanos - ROUNDING > drifted;
		this.ahead = (this.known && !setBack) ? Math.min(drifted, received - nanos) : received - nanos;
		this.heardAt = received;
		this.known = true;
		return this.ahead;
	}

}
