package io.timingwheel;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Creates daemon threads that inherit no thread-locals, since a wheel may outlive the
 * request in which it was created.
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
