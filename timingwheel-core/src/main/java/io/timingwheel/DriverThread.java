package io.timingwheel;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Drives a wheel in real time. The thread parks until the driver's next wake-up, with no
 * upper limit, survives each exception and error, and ends only when the wheel is
 * stopped. A wheel with a {@link ManualTimeSource} never starts it.
 *
 * <p>
 * No wake-up is lost. The driver publishes the end of its sleep, and then reads each
 * shard's next wake-up again. A thread that adds a timer publishes the shard's next
 * wake-up, and then reads the end of the sleep. At least one of the two sees the value of
 * the other.
 *
 * <p>
 * A thread nearly always oversleeps, so it parks for less, by a low quantile (Robbins and
 * Monro, "A Stochastic Approximation Method", 1951): one sleep in ten ends too early.
 */
class DriverThread {

	private static final AtomicInteger COUNT = new AtomicInteger();

	private static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	private static final long AWAKE = Long.MIN_VALUE;

	/** A fixed step, so that a single very long sleep does not count for more. */
	private static final long OVERSLEPT_MORE = 1_000;

	private static final long OVERSLEPT_LESS = 9 * OVERSLEPT_MORE;

	private final WheelClock time;

	private volatile long parkedUntil = AWAKE;

	private volatile @Nullable Thread sleeper;

	volatile long wakeUps;

	/** The first decile of how much longer sleeps take, in nanoseconds. */
	private long oversleep;

	DriverThread(WheelClock time) {
		this.time = time;
	}

	/** A wheel may outlive the request that has created it: no thread-locals. */
	static Thread newDaemon(Runnable task) {
		Thread thread = new Thread(null, task, "timing-wheel-" + COUNT.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		return thread;
	}

	void start(Driver driver, ThreadFactory factory) {
		Thread thread = factory.newThread(() -> run(driver));
		thread.start();
	}

	void wakeFor(long tick) {
		if (tick < this.parkedUntil) {
			LockSupport.unpark(this.sleeper);
		}
	}

	void run(Driver driver) {
		try {
			long pause = MIN_PAUSE;
			while (!driver.stopped) {
				try {
					step(driver);
					pause = MIN_PAUSE;
				}
				catch (Throwable ex) {
					// For example no memory. The next step continues.
					Log.driverFailed(ex);
					pauseFor(driver, pause);
					pause = Math.min(2 * pause, MAX_PAUSE);
				}
			}
		}
		finally {
			this.parkedUntil = AWAKE;
			driver.shut();
		}
	}

	private void step(Driver driver) {
		long wake = driver.nextWake();
		if (wake <= this.time.now()) {
			driver.turn();
		}
		else {
			parkUntil(driver, wake);
		}
	}

	/** The interrupt of a task ends one park even after its flag was cleared. */
	void pauseFor(Driver driver, long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !driver.stopped; left = end - System.nanoTime()) {
			Thread.interrupted();
			LockSupport.parkNanos(this, left);
		}
	}

	private void parkUntil(Driver driver, long wake) {
		this.sleeper = Thread.currentThread();
		this.parkedUntil = wake;
		if (driver.nextWake() >= wake && !driver.stopped) {
			if (wake == Wheel.NEVER) {
				LockSupport.park(this);
			}
			else {
				sleepUntil(wake);
			}
			if (driver.nextWake() <= this.time.now()) {
				this.wakeUps++;
			}
		}
		this.parkedUntil = AWAKE;
		// If a task has left the interrupt flag set, the thread could not park again.
		Thread.interrupted();
	}

	/** Parks until a tick or a little shorter. The caller then parks again. */
	private void sleepUntil(long wake) {
		long asleep = this.time.elapsed();
		long nanos = this.time.nanosAt(wake) - asleep;
		if (nanos > 2 * this.oversleep) {
			// A second sleep does not pay if the first one is short.
			nanos -= this.oversleep;
		}
		LockSupport.parkNanos(this, nanos);
		long late = this.time.elapsed() - asleep - nanos;
		// If the sleep was shorter, another thread has ended it.
		if (late >= 0) {
			long step = (late > this.oversleep) ? OVERSLEPT_MORE : -OVERSLEPT_LESS;
			this.oversleep = Math.max(0, this.oversleep + step);
		}
	}

}
