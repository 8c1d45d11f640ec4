package io.timingwheel.spring.durable.support;

import java.util.concurrent.TimeUnit;

/**
 * By how much the wheel's clock is ahead of the engine's. All that is known is that the
 * engine's said a time at some moment between a request and its reply. So the wheel's is
 * ahead by at most as much as it was when the reply came: who takes that for the truth is
 * late by a part of what the reply took, and never early. Of all replies the fastest is
 * the best, and remains it for as long as the clocks run alike, however slow others are.
 *
 * <p>
 * By less than the time before the request says the wheel's cannot be ahead. An estimate
 * that is lower than that is of a clock that was set back since, and forgotten. So with
 * several clocks (the primaries of a Cluster) what a reply is given here is too small for
 * its engine by at most what the clocks differ by, and at most what this reply took and a
 * millisecond. Thread-safe.
 */
final class StoreClock {

	/** By what part of the time two clocks that are kept in time may drift apart. */
	private static final int DRIFT = 2_000;

	/** What the engine says is rounded down. */
	private static final long ROUNDING = TimeUnit.MILLISECONDS.toNanos(1);

	/** By how much the wheel's clock is ahead, at most. */
	private long ahead;

	/** When that was found, by the clock of the wheel. */
	private long found;

	private boolean known;

	/**
	 * Hears of the time.
	 * @param now the time by the engine's clock, in milliseconds, rounded down; the
	 * earliest of several clocks
	 * @param sent before the request, by the clock of the wheel
	 * @param received after the reply, by the clock of the wheel
	 * @return by how many nanoseconds the wheel's clock is ahead for what came with this
	 * reply
	 */
	synchronized long heard(long now, long sent, long received) {
		long nanos = TimeUnit.MILLISECONDS.toNanos(now);
		long drifted = this.ahead + Math.max(0, received - this.found) / DRIFT;
		boolean setBack = sent - nanos - ROUNDING > drifted;
		this.ahead = (this.known && !setBack) ? Math.min(drifted, received - nanos) : received - nanos;
		this.found = received;
		this.known = true;
		return this.ahead;
	}

}
