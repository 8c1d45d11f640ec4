package io.timingwheel;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Wakes the parked driver for a timer that is due earlier than the planned wake-up.
 *
 * <p>
 * No wake-up is lost. The driver publishes the end of its sleep, as a tick, and then
 * reads each shard's next wake-up again. A thread that adds a timer publishes the shard's
 * next wake-up, and then reads the end of the driver's sleep. At least one of the two
 * threads sees the value of the other.
 */
final class Alarm {

	private static final long AWAKE = Long.MIN_VALUE;

	private volatile long parkedUntil = AWAKE;

	private volatile @Nullable Thread sleeper;

	/**
	 * Announces that the calling thread is about to park until the given tick.
	 */
	void set(long tick) {
		this.sleeper = Thread.currentThread();
		this.parkedUntil = tick;
	}

	/**
	 * Records that the driver is awake.
	 */
	void clear() {
		this.parkedUntil = AWAKE;
	}

	/**
	 * Wakes the driver if it would otherwise sleep past the given tick.
	 */
	void wakeFor(long tick) {
		if (tick < this.parkedUntil) {
			LockSupport.unpark(this.sleeper);
		}
	}

}
