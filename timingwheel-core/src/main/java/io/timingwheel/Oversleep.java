package io.timingwheel;

/**
 * By how much the machine nearly always oversleeps, so that one may park for less. For
 * one thread.
 *
 * <p>
 * An estimate of a low quantile by stochastic approximation (Robbins and Monro, 1951): a
 * sleep that is later than it raises it by a little, an earlier one lowers it by more, so
 * that it rests where one sleep in ten is earlier.
 */
final class Oversleep {

	/** So that no single sleep, however long, matters. */
	private static final long UP = 1_000;

	private static final long DOWN = 9 * UP;

	private long nanos;

	/**
	 * For how long to park in order to wake up after the given time, rarely before.
	 */
	long parkFor(long nanos) {
		// What is short is not worth a second sleep.
		return (nanos > 2 * this.nanos) ? nanos - this.nanos : nanos;
	}

	/**
	 * Learns from a sleep.
	 * @param late by how many nanoseconds it was longer than asked for
	 */
	void slept(long late) {
		this.nanos = Math.max(0, this.nanos + ((late > this.nanos) ? UP : -DOWN));
	}

}
