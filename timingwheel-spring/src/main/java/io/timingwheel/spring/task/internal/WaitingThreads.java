package io.timingwheel.spring.task.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Daemon threads for work that may block. A task goes to an idle thread or to a new one.
 * Beyond a number of threads it tries again every 100 ms. A thread ends when it has been
 * idle for 10 seconds. Thread-safe.
 */
final class WaitingThreads extends ThreadPoolExecutor {

	private static final Log logger = LogFactory.getLog(WaitingThreads.class);

	private static final AtomicInteger names = new AtomicInteger();

	private static final long IDLE_SECONDS = 10;

	private static final long RETRY_MILLIS = 100;

	WaitingThreads(String name, int max) {
		super(0, max, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), (run) -> thread(name, run));
	}

	/**
	 * A thread that inherits no thread-locals, since they would come from an arbitrary
	 * caller.
	 */
	private static Thread thread(String name, Runnable run) {
		Thread thread = new Thread(null, run, name + names.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		thread.setUncaughtExceptionHandler(
				(failed, ex) -> UserErrors.log(logger::error, "A task of " + failed.getName() + " has failed", ex));
		return thread;
	}

	@Override
	public void execute(Runnable task) {
		try {
			super.execute(task);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			if (isShutdown()) {
				throw new RejectedExecutionException("The threads have ended", ex);
			}
			// All threads are busy, or the machine has no more.
			CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
				.execute(() -> execute(task));
		}
	}

}
