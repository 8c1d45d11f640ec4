package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

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

	private final Lock lock = new ReentrantLock();

	private final Condition wakeUp = this.lock.newCondition();

	private boolean woken;

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
		this.lock.lock();
		try {
			long left = nanos;
			while (!this.woken && left > 0) {
				left = this.wakeUp.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			// No other thread has a reason to interrupt this one.
		}
		finally {
			this.woken = false;
			this.lock.unlock();
		}
	}

	@Override
	public void sleep(long nanos) {
		long end = System.nanoTime() + nanos;
		for (long left = nanos; left > 0 && !this.stopped; left = end - System.nanoTime()) {
			await(left);
		}
	}

	@Override
	public void wake() {
		this.lock.lock();
		try {
			this.woken = true;
			this.wakeUp.signalAll();
		}
		finally {
			this.lock.unlock();
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
