package io.timingwheel;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes daemon threads that inherit no thread-locals: a wheel outlives the request that
 * happens to create it.
 */
final class DriverThreadFactory implements ThreadFactory {

	private static final AtomicInteger COUNT = new AtomicInteger();

	@Override
	public Thread newThread(Runnable task) {
		Thread thread = new Thread(null, task, "timing-wheel-" + COUNT.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		return thread;
	}

}
