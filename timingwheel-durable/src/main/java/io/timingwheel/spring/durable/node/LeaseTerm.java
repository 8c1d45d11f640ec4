package io.timingwheel.spring.durable.node;

/**
 * How long a node trusts a lease, by its own monotonic clock: from before the request for
 * the lease until a margin before the end of the lease.
 *
 * @param requestedAt the time before the request, in nanoseconds
 * @param nanos how long the lease lasts
 */
record LeaseTerm(long requestedAt, long nanos) {

	static final LeaseTerm NONE = new LeaseTerm(0, 0);

	/** The margin is a tenth of the lease. */
	private static final int MARGIN = 10;

	/** A lease is renewed after a third of its time, so that two renewals may fail. */
	private static final int RENEWALS = 3;

	boolean isOver(long now) {
		return now - this.requestedAt >= this.nanos - this.nanos / MARGIN;
	}

	boolean isToBeRenewed(long now) {
		return now - this.requestedAt >= this.nanos / RENEWALS;
	}

}
