package io.timingwheel;

/**
 * Estimates how long a thread nearly always oversleeps on this machine, so that the
 * thread can park for less. Only one thread uses an instance.
 *
 * <p>
 * The estimate approximates a low quantile (Robbins and Monro, "A Stochastic
 * Approximation Method", 1951). A sleep that ends later than estimated raises the
 * estimate by a little. A sleep that ends earlier lowers the estimate by nine times as
 * much. The estimate therefore settles where one sleep in ten ends earlier.
 */
final class Oversleep {

	/** A fixed step, so that a single very long sleep does not count for more. */
	private static final long UP = 1_000;

	private static final long DOWN = 9 * UP;

	private long nanos;

	/**
	 * The nanoseconds to park in order to wake up after the given nanoseconds, and only
	 * rarely before.
	 */
	long parkFor(long nanos) {
		// A shorter sleep may end too early and need a second one, which does not pay
		// here.
		return (nanos > 2 * this.nanos) ? nanos - this.nanos : nanos;
	}

	/**
	 * Learns from a sleep.
	 * @param late by how many nanoseconds the sleep was longer than asked for
	 */
	void slept(long late) {
		this.nanos = Math.max(0, this.nanos + ((late > this.nanos) ? UP : -DOWN));
	}

}
