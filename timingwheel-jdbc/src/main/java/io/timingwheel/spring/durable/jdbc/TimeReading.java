package io.timingwheel.spring.durable.jdbc;

import java.util.concurrent.TimeUnit;

/**
 * A time that was read from the store's clock. Immutable.
 *
 * @param millis the time, in milliseconds since the epoch
 * @param arrivedAt when the reading arrived, by {@link System#nanoTime()}
 * @param moves whether the clock runs by itself. The clock of a test may not
 */
record TimeReading(long millis, long arrivedAt, boolean moves) {

	/**
	 * The present time by the store's clock, without another request: the reading, and
	 * the time since the reading arrived. The result may be too early by the time that
	 * the reading took to arrive, and is never too late.
	 * @return milliseconds since the epoch
	 */
	long now() {
		long since = this.moves ? System.nanoTime() - this.arrivedAt : 0;
		return this.millis + TimeUnit.NANOSECONDS.toMillis(since);
	}

}
