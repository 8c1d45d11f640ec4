package io.timingwheel.spring.task.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Daemon threads for work that may block. A task goes to an idle thread or, up to a
 * number, to a new one, so it waits for no other task. A thread ends when it has been
 * idle for 10 seconds. Thread-safe.
 */
final class WaitingThreads extends ThreadPoolExecutor {

	private static final Log logger = LogFactory.getLog(WaitingThreads.class);

	private static final AtomicInteger names = new AtomicInteger();

	private static final long IDLE_SECONDS = 10;

	private static final long RESTART_MILLIS = 100;

	private final IdleThreads idle;

	WaitingThreads(String name, int max) {
		this(name, max, new IdleThreads());
	}

	private WaitingThreads(String name, int max, IdleThreads idle) {
		super(0, max, IDLE_SECONDS, TimeUnit.SECONDS, idle, (run) -> thread(name, run), (task, threads) -> {
			if (threads.isShutdown()) {
				throw new RejectedExecutionException("The threads " + name + " have ended");
			}
			idle.add(task);
		});
		this.idle = idle;
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
		catch (OutOfMemoryError ex) {
			// The machine has no more threads at the moment.
			this.idle.add(task);
			CompletableFuture.delayedExecutor(RESTART_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
				.execute(() -> execute(() -> {
				}));
		}
	}

	/** A queue that takes a task only if an idle thread takes it at once. */
	private static final class IdleThreads extends LinkedTransferQueue<Runnable> {

		private static final long serialVersionUID = 1L;

		@Override
		public boolean offer(Runnable task) {
			return tryTransfer(task);
		}

		@Override
		public boolean add(Runnable task) {
			return super.offer(task);
		}

	}

}
