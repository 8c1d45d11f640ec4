package io.timingwheel.spring.durable.support;

import java.time.Duration;

/**
 * How long a node trusts a lease, by its own monotonic clock: from before the request for
 * the lease until a margin before the end of the lease.
 *
 * @param requestedNanos the time before the request, by the clock of the node
 * @param leaseNanos how long the lease lasts
 */
record LeaseTerm(long requestedNanos, long leaseNanos) {

	static final LeaseTerm NONE = new LeaseTerm(0, 0);

	/** The margin is a tenth of the lease. */
	private static final int MARGIN = 10;

	/** A lease is renewed after a third of its time, so that two renewals may fail. */
	private static final int RENEWALS = 3;

	/**
	 * The term of a lease that the caller is about to request.
	 */
	static LeaseTerm of(NodeTurns clock, Duration lease) {
		return new LeaseTerm(clock.nanoTime(), lease.toNanos());
	}

	boolean isOver(NodeTurns clock) {
		return age(clock) >= this.leaseNanos - this.leaseNanos / MARGIN;
	}

	boolean isToBeRenewed(NodeTurns clock) {
		return age(clock) >= this.leaseNanos / RENEWALS;
	}

	private long age(NodeTurns clock) {
		return clock.nanoTime() - this.requestedNanos;
	}

}
