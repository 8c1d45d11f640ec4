package io.timingwheel.spring.durable.node;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Estimates by how much the node's clock is ahead of the store's. The store read its time
 * between request and reply. So the node's time at the reply, minus the store's, is an
 * upper bound: with it, no task runs early. The fastest reply gives the best bound. The
 * node's time before the request gives a lower bound. An estimate below it means that the
 * store's clock was set back, and begins anew.
 */
final class StoreClock {

	/** Two clocks that are synchronized drift apart by at most this part of the time. */
	private static final int DRIFT = 2_000;

	/** The store rounds its time down to milliseconds. */
	private static final long ROUNDING = TimeUnit.MILLISECONDS.toNanos(1);

	private final LongSupplier clock;

	/** By how many nanoseconds the node's clock is ahead, at most. */
	private long ahead = Long.MAX_VALUE / 2;

	private long heardAt;

	StoreClock(LongSupplier clock) {
		this.clock = clock;
	}

	/**
	 * Learns from a reply that has just arrived.
	 * @param now the time by the store's clock; the earliest of several
	 * @return by how many nanoseconds the node's clock is ahead
	 */
	long heard(long now, long sent) {
		long received = this.clock.getAsLong();
		long nanos = TimeUnit.MILLISECONDS.toNanos(now);
		long drifted = this.ahead + Math.max(0, received - this.heardAt) / DRIFT;
		boolean setBack = sent - nanos - ROUNDING > drifted;
		this.ahead = setBack ? received - nanos : Math.min(drifted, received - nanos);
		this.heardAt = received;
		return this.ahead;
	}

}
