package io.timingwheel.spring.durable.support;

import java.time.Duration;

/**
 * For how long a node may believe in a lease, by its own monotonic clock: counted from
 * before it asked the store, and less a margin.
 *
 * @param grantedNanos when the store was asked
 * @param leaseNanos how long the lease is
 */
record LeaseTerm(long grantedNanos, long leaseNanos) {

	static final LeaseTerm NONE = new LeaseTerm(0, 0);

	/** A tenth of the lease is the margin. */
	private static final int MARGIN = 10;

	/** There are two more chances to renew it if the first one fails. */
	private static final int RENEWALS = 3;

	/**
	 * A lease that is about to be asked for.
	 */
	static LeaseTerm of(Duration lease) {
		return new LeaseTerm(System.nanoTime(), lease.toNanos());
	}

	boolean isOver() {
		return age() >= this.leaseNanos - this.leaseNanos / MARGIN;
	}

	boolean isToBeRenewed() {
		return age() >= this.leaseNanos / RENEWALS;
	}

	private long age() {
		return System.nanoTime() - this.grantedNanos;
	}

}
