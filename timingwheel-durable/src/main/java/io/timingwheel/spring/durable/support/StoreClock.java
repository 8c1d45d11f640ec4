package io.timingwheel.spring.durable.support;

import java.util.concurrent.TimeUnit;

import io.timingwheel.TimeSource;

/**
 * Estimates by how much the wheel's clock is ahead of the store's. Thread-safe.
 *
 * <p>
 * The store read the time in its reply at some moment between the request and the reply.
 * The wheel's time at the arrival of the reply, minus the store's time, is therefore an
 * upper bound. A node that uses this bound never runs a task early, and runs it late by
 * at most the time that the request took. The fastest reply gives the best bound. The
 * bound stays valid while both clocks run at the same rate, even if later replies are
 * slow.
 *
 * <p>
 * The wheel's time before the request, minus the store's time, is a lower bound. If the
 * estimate is below the lower bound, the store's clock was set back, and the estimate
 * starts again. A store may have several clocks, as the primaries of a Redis Cluster are.
 * Then the estimate may be too low for one of the clocks. The error is at most the
 * difference between the clocks, and at most the time of this request plus a millisecond.
 */
final class StoreClock {

	/** Two clocks that are synchronized drift apart by at most this part of the time. */
	private static final int DRIFT = 2_000;

	/** The store rounds its time down to milliseconds. */
	private static final long ROUNDING = TimeUnit.MILLISECONDS.toNanos(1);

	private final TimeSource wheelClock;

	/** By how many nanoseconds the wheel's clock is ahead, at most. */
	private long ahead;

	/** When the last reply arrived, by the wheel's clock. */
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
	 * Updates the estimate with a reply that has just arrived.
	 * @param now the time by the store's clock, in milliseconds, rounded down; the
	 * earliest of several clocks
	 * @param sent the time before the request, by the wheel's clock
	 * @return by how many nanoseconds the wheel's clock is ahead; to be used for the
	 * times in this reply
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
