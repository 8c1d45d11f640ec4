package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A daemon thread that calls the store, round after round, until it is told to stop. An
 * exception in a round does not end the thread. Other threads wake it and never interrupt
 * it, since a file database closes its files when a thread is interrupted.
 */
final class StoreThread implements StoreLoop {

	private static final Log logger = LogFactory.getLog(StoreThread.class);

	private static final long AFTER_ERROR_NANOS = Duration.ofSeconds(1).toNanos();

	private final Thread thread;

	private final Runnable round;

	/** Whether somebody has woken the thread since its last wait. */
	private volatile boolean woken;

	private volatile boolean stopped;

	/**
	 * Creates a thread that has not started.
	 * @param name its name
	 * @param round one round, which the thread runs again and again
	 */
	StoreThread(String name, Runnable round) {
		this.round = round;
		this.thread = new Thread(null, this::run, name, 0, false);
		this.thread.setDaemon(true);
	}

	@Override
	public void start() {
		this.thread.start();
	}

	private void run() {
		while (!this.stopped) {
			try {
				this.round.run();
			}
			catch (Throwable ex) {
				logger.error("Unexpected error; the thread goes on in a second", ex);
				await(AFTER_ERROR_NANOS);
			}
		}
	}

	@Override
	public void await(long nanos) {
		long start = System.nanoTime();
		long left = nanos;
		// No other thread has a reason to interrupt this one.
		while (!this.woken && left > 0 && !Thread.interrupted()) {
			LockSupport.parkNanos(this, left);
			left = nanos - (System.nanoTime() - start);
		}
		this.woken = false;
	}

	@Override
	public void sleep(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !this.stopped; left = end - System.nanoTime()) {
			await(left);
		}
	}

	/**
	 * Only the first call since the last wait wakes the thread. Most callers therefore
	 * only read a field.
	 */
	@Override
	public void wake() {
		if (!this.woken) {
			this.woken = true;
			LockSupport.unpark(this.thread);
		}
	}

	@Override
	public boolean isStopped() {
		return this.stopped;
	}

	@Override
	public void stop() {
		this.stopped = true;
		wake();
	}

	@Override
	public void join(Duration period) throws InterruptedException {
		if (this.thread.isAlive()) {
			this.thread.join(Math.max(1, period.toMillis()));
		}
	}

}
