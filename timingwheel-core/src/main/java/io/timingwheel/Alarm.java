package io.timingwheel;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Wakes the driver when a timer comes in that is due before it meant to wake up.
 *
 * <p>
 * No wake-up is lost: the driver publishes until when it parks and then reads each
 * shard's next wake-up again, while one who adds a timer publishes the shard's next
 * wake-up and then reads until when the driver parks. At least one of them sees the
 * other.
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

	void clear() {
		this.parkedUntil = AWAKE;
	}

	/**
	 * Wakes the driver if it would sleep past the given tick.
	 */
	void wakeFor(long tick) {
		if (tick < this.parkedUntil) {
			LockSupport.unpark(this.sleeper);
		}
	}

}
