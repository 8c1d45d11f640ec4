package io.timingwheel.spring.durable;

import org.springframework.util.Assert;

/**
 * How many tasks of a name may start, on all nodes together. The store decides by its own
 * clock.
 *
 * @param concurrent how many of them may be running at once, 0 for any number
 * @param perKey how many of them may be running at once with the same key, 0 for any
 * number
 * @param intervalMicros the microseconds between two starts on average, 0 for any number
 * of starts
 * @param burst how many may start at once after a pause, at least 1
 * @since 0.1
 */
public record StartLimits(int concurrent, int perKey, long intervalMicros, int burst) {

	/**
	 * Checks the values.
	 * @throws IllegalArgumentException if a value is negative, or the burst is below 1
	 */
	public StartLimits {
		Assert.isTrue(concurrent >= 0 && perKey >= 0 && intervalMicros >= 0 && burst >= 1,
				"A limit of starts must not be negative, and a burst must be at least 1");
	}

	/**
	 * Limits the stored value of the next start. The value may be later than these limits
	 * can make it, if it was stored with other limits, or if the clock was set back. The
	 * caller stores the result, since it depends on the time.
	 * @param nextStart the stored value, in microseconds since the epoch
	 * @param now the time, in microseconds since the epoch
	 * @return microseconds since the epoch
	 */
	public long atMost(long nextStart, long now) {
		return Math.min(nextStart, now + this.burst * this.intervalMicros);
	}

	/**
	 * How many tasks the rate allows to start now.
	 * @param nextStart when the next start would be due if all starts were spread evenly,
	 * in microseconds since the epoch
	 * @param now the time, in microseconds since the epoch
	 * @return the number, {@link Integer#MAX_VALUE} if there is no rate
	 */
	public int startsAllowed(long nextStart, long now) {
		if (this.intervalMicros == 0) {
			return Integer.MAX_VALUE;
		}
		long spare = this.burst * this.intervalMicros - Math.max(0, nextStart - now);
		return (int) Math.max(0, spare / this.intervalMicros);
	}

	/**
	 * The new value of the next start.
	 * @param nextStart the value before
	 * @param now the time, in microseconds since the epoch
	 * @param starts how many tasks start now
	 * @return microseconds since the epoch
	 */
	public long nextStart(long nextStart, long now, int starts) {
		return Math.max(nextStart, now) + starts * this.intervalMicros;
	}

	/**
	 * When the rate allows some tasks again. A node comes back for half a burst, since
	 * each claim takes more than one request, even for a single task.
	 * @param nextStart the value of the next start
	 * @return milliseconds since the epoch
	 */
	public long startsAgainAt(long nextStart) {
		long starts = Math.max(1, this.burst / 2);
		long micros = nextStart - (this.burst - starts) * this.intervalMicros;
		return -Math.floorDiv(-micros, 1000L);
	}

}
