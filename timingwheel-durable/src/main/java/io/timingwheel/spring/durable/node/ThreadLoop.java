package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A loop on a daemon thread. Nobody interrupts it, since a file database closes its files
 * when a thread is interrupted.
 */
final class ThreadLoop implements NodeLoop {

	private static final Log logger = LogFactory.getLog(ThreadLoop.class);

	private static final long AFTER_ERROR_NANOS = Duration.ofSeconds(1).toNanos();

	private final Thread thread;

	private final Runnable round;

	private volatile boolean woken;

	private volatile boolean stopped;

	ThreadLoop(String name, Runnable round) {
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
				sleep(AFTER_ERROR_NANOS);
			}
		}
	}

	@Override
	public void await(long restNanos, long nanos) {
		long start = System.nanoTime();
		while (!this.stopped) {
			long wait = this.woken ? restNanos : Math.max(restNanos, nanos);
			long left = wait - (System.nanoTime() - start);
			if (left <= 0) {
				break;
			}
			LockSupport.parkNanos(this, left);
			// No other thread has a reason to interrupt this one.
			Thread.interrupted();
		}
		this.woken = false;
	}

	/** Most callers only read a field. */
	@Override
	public void wake() {
		if (!this.woken) {
			this.woken = true;
			LockSupport.unpark(this.thread);
		}
	}

	@Override
	public void stop(Duration period) throws InterruptedException {
		this.stopped = true;
		LockSupport.unpark(this.thread);
		this.thread.join(Math.max(1, period.toMillis()));
	}

}
