package io.timingwheel;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that drives a wheel in real time. It parks until the driver's next wake-up,
 * with no upper limit. If no slot is occupied, it parks until another thread wakes it. It
 * survives each exception and error, and ends only when the wheel is stopped.
 */
class DriverThread implements Runnable {

	private static final AtomicInteger COUNT = new AtomicInteger();

	private static final long MIN_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(1);

	private final Driver driver;

	private final WheelClock time;

	private final Alarm alarm;

	private final ThreadFactory factory;

	private final Oversleep oversleep = new Oversleep();

	private volatile long wakeUps;

	DriverThread(Driver driver, WheelClock time, Alarm alarm, ThreadFactory factory) {
		this.driver = driver;
		this.time = time;
		this.alarm = alarm;
		this.factory = factory;
	}

	/**
	 * The default factory. Its daemon threads inherit no thread-locals, since a wheel may
	 * outlive the request in which it was created.
	 */
	static Thread newDaemon(Runnable task) {
		Thread thread = new Thread(null, task, "timing-wheel-" + COUNT.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		return thread;
	}

	void start() {
		Thread thread = this.factory.newThread(this);
		if (thread == null) {
			throw new IllegalStateException("The thread factory has created no thread: " + this.factory);
		}
		thread.start();
	}

	@Override
	public void run() {
		try {
			long pause = MIN_PAUSE;
			while (!this.driver.isStopped()) {
				try {
					step();
					pause = MIN_PAUSE;
				}
				catch (Throwable ex) {
					// For example no memory. The next step continues where this one
					// failed.
					Log.driverFailed(ex);
					pauseFor(pause);
					pause = Math.min(2 * pause, MAX_PAUSE);
				}
			}
		}
		finally {
			this.alarm.clear();
			this.driver.threadEnded();
		}
	}

	private void step() {
		long wake = this.driver.nextWake();
		if (wake <= this.time.now()) {
			this.driver.turn();
		}
		else {
			parkUntil(wake);
		}
	}

	/**
	 * Pauses, unless the wheel is stopped. A task may have interrupted this thread. The
	 * interrupt ends one park even after its flag was cleared.
	 */
	void pauseFor(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !this.driver.isStopped(); left = end - System.nanoTime()) {
			Thread.interrupted();
			LockSupport.parkNanos(this, left);
		}
	}

	private void parkUntil(long wake) {
		this.alarm.set(wake);
		if (this.driver.nextWake() >= wake && !this.driver.isStopped()) {
			if (wake == Wheel.NEVER) {
				LockSupport.park(this);
			}
			else {
				sleepUntil(wake);
			}
			if (this.driver.nextWake() <= this.time.now()) {
				this.wakeUps++;
			}
		}
		this.alarm.clear();
		// If a task has left the interrupt flag set, the thread could not park again.
		Thread.interrupted();
	}

	/**
	 * Parks until the given tick. May return a little earlier. The caller then parks
	 * again.
	 */
	private void sleepUntil(long wake) {
		long asleep = this.time.elapsed();
		long nanos = this.oversleep.parkFor(this.time.nanosAt(wake) - asleep);
		LockSupport.parkNanos(this, nanos);
		long late = this.time.elapsed() - asleep - nanos;
		// If the sleep was shorter, another thread has ended it.
		if (late >= 0) {
			this.oversleep.slept(late);
		}
	}

	long wakeUps() {
		return this.wakeUps;
	}

}
