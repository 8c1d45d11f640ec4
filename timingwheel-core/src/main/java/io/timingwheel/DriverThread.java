package io.timingwheel;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that drives a wheel in real time. It parks until the driver's next wake-up,
 * with no upper limit. If no slot is occupied, it parks until another thread wakes it.
 */
final class DriverThread implements Runnable {

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
			while (!this.driver.isStopped()) {
				long wake = this.driver.nextWake();
				if (wake <= this.time.now()) {
					this.driver.turn();
				}
				else {
					parkUntil(wake);
				}
			}
		}
		finally {
			this.alarm.clear();
			if (!this.driver.isStopped()) {
				// An error has ended this thread. Another thread takes over.
				start();
			}
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
