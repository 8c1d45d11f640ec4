package io.timingwheel.spring.durable.store;

/**
 * How many tasks of a name may start, on all nodes together, by the store's clock. All
 * times here are microseconds since the epoch, if nothing else is said.
 *
 * @param concurrent how many may be running at once, 0 for any number
 * @param perKey the same for those with the same key
 * @param intervalMicros between two starts on average, 0 for any number of starts
 * @param burst how many may start at once after a pause, at least 1
 * @since 0.1
 */
public record StartLimits(int concurrent, int perKey, long intervalMicros, int burst) {

	/**
	 * Limits the stored value of the next start, which may be of other limits, or of a
	 * clock that was set back. The caller stores the result.
	 */
	public long atMost(long nextStart, long now) {
		return Math.min(nextStart, now + this.burst * this.intervalMicros);
	}

	/**
	 * How many tasks the rate allows to start now.
	 * @param nextStart when the next start would be due if all starts were spread evenly
	 * @return {@link Integer#MAX_VALUE} if there is no rate
	 */
	public int startsAllowed(long nextStart, long now) {
		if (this.intervalMicros == 0) {
			return Integer.MAX_VALUE;
		}
		long spare = this.burst * this.intervalMicros - Math.max(0, nextStart - now);
		return (int) Math.max(0, spare / this.intervalMicros);
	}

	/** The new value of the next start, if so many tasks start now. */
	public long nextStart(long nextStart, long now, int starts) {
		return Math.max(nextStart, now) + starts * this.intervalMicros;
	}

	/**
	 * When the rate allows half a burst again, in milliseconds since the epoch: each
	 * claim takes more than one request, even for a single task.
	 */
	public long startsAgainAt(long nextStart) {
		long starts = Math.max(1, this.burst / 2);
		long micros = nextStart - (this.burst - starts) * this.intervalMicros;
		return -Math.floorDiv(-micros, 1000L);
	}

}
