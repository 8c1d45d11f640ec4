package io.timingwheel.spring.durable;

import java.util.concurrent.TimeUnit;

/**
 * What the engine's clock says in terms of the wheel's. All that is known is what it said
 * some time before a reply came: to take the reply for the time would make tasks late by
 * what replies take. So the fastest reply counts, which is as sure not to be too early,
 * for as long as the clocks run alike. Thread-safe.
 */
final class EngineClock {

	/** By what part of the time two clocks that are kept in time may drift apart. */
	private static final int DRIFT = 2_000;

	/** The engine's clock may have been set back: the latest reply alone counts. */
	private static final long MAX_GAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** By how much the wheel's clock is ahead, at most. */
	private long ahead;

	/** When that was found, by the clock of the wheel. */
	private long found;

	private boolean known;

	/**
	 * Hears of the time.
	 * @param now the time by the engine's clock, in milliseconds
	 * @param received when the reply came that says so, by the clock of the wheel
	 */
	synchronized void heard(long now, long received) {
		long heard = received - TimeUnit.MILLISECONDS.toNanos(now);
		long drifted = this.ahead + Math.max(0, received - this.found) / DRIFT;
		long gain = heard - drifted;
		this.ahead = (this.known && gain > 0 && gain < MAX_GAIN_NANOS) ? drifted : heard;
		this.found = received;
		this.known = true;
	}

	/**
	 * A time by the clock of the wheel.
	 * @param time milliseconds by the engine's clock
	 */
	synchronized long toWheelNanos(long time) {
		return this.ahead + TimeUnit.MILLISECONDS.toNanos(time);
	}

}
