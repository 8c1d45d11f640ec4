package io.timingwheel.spring.durable.support;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A daemon thread that talks to the store until it is told to stop. It is never
 * interrupted, and outlives whatever a round throws.
 */
final class StoreThread {

	private static final Log logger = LogFactory.getLog(StoreThread.class);

	private final Thread thread;

	private final Runnable round;

	private final Signal signal;

	private volatile boolean stopped;

	/**
	 * Creates a thread, to be started.
	 * @param name its name
	 * @param round what it does again and again
	 * @param signal what a round waits for
	 */
	StoreThread(String name, Runnable round, Signal signal) {
		this.round = round;
		this.signal = signal;
		this.thread = new Thread(null, this::run, name, 0, false);
		this.thread.setDaemon(true);
	}

	void start() {
		this.thread.start();
	}

	private void run() {
		while (!this.stopped) {
			try {
				this.round.run();
			}
			catch (Throwable ex) {
				logger.error("Unexpected, going on", ex);
				this.signal.await(Duration.ofSeconds(1).toNanos());
			}
		}
	}

	boolean isStopped() {
		return this.stopped;
	}

	/**
	 * Has the thread end after its round.
	 */
	void stop() {
		this.stopped = true;
		this.signal.raise();
	}

	/**
	 * Waits for the thread to end.
	 */
	void join(Duration period) throws InterruptedException {
		if (this.thread.isAlive()) {
			this.thread.join(Math.max(1, period.toMillis()));
		}
	}

}
