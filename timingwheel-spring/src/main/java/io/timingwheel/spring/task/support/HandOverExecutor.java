package io.timingwheel.spring.task.support;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Feeds an executor whose {@code execute} may block. {@link #execute} only adds to a
 * queue; one thread, which ends when there has been nothing to do for a while, calls the
 * executor in the order of the queue and calls again for as long as it refuses.
 */
final class HandOverExecutor implements Executor, AutoCloseable {

	private static final Log logger = LogFactory.getLog(HandOverExecutor.class);

	private static final AtomicInteger threads = new AtomicInteger();

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long FIRST_BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final Executor executor;

	/** Holds this while its thread lives, so that no second one feeds the executor. */
	private final ConcurrentMap<Executor, HandOverExecutor> active;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition added = this.lock.newCondition();

	private final Queue<Runnable> queue = new ArrayDeque<>();

	private @Nullable Thread thread;

	private volatile boolean closed;

	HandOverExecutor(Executor executor, ConcurrentMap<Executor, HandOverExecutor> active) {
		this.executor = executor;
		this.active = active;
	}

	@Override
	public void execute(Runnable task) {
		this.lock.lock();
		try {
			if (this.closed) {
				throw new RejectedExecutionException("Closed");
			}
			this.queue.add(task);
			this.added.signal();
			if (this.thread == null) {
				this.active.putIfAbsent(this.executor, this);
				this.thread = start();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.queue.clear();
			if (this.thread != null) {
				this.thread.interrupt();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private Thread start() {
		// Without thread-locals: whose would they be?
		Thread thread = new Thread(null, this::run, "timing-wheel-hand-over-" + threads.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private void run() {
		for (Runnable task = next(); task != null; task = next()) {
			handOver(task);
		}
	}

	/**
	 * Waits for a task.
	 * @return the task, {@code null} if the thread is to end
	 */
	private @Nullable Runnable next() {
		this.lock.lock();
		try {
			long nanos = IDLE_NANOS;
			while (this.queue.isEmpty() && !this.closed && nanos > 0) {
				try {
					nanos = this.added.awaitNanos(nanos);
				}
				catch (InterruptedException ex) {
					// Closed, or what a body that ran right here has left behind.
				}
			}
			Runnable task = this.queue.poll();
			if (task == null) {
				this.thread = null;
				this.active.remove(this.executor, this);
			}
			return task;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void handOver(Runnable task) {
		long backoff = FIRST_BACKOFF_NANOS;
		while (!isClosed()) {
			try {
				this.executor.execute(task);
				return;
			}
			catch (Throwable ex) {
				// If the body ran right here and threw, calling again does nothing.
				if (backoff == FIRST_BACKOFF_NANOS) {
					logger.debug("Refused by " + this.executor + ", trying again", ex);
				}
			}
			LockSupport.parkNanos(backoff);
			backoff = Math.min(2 * backoff, MAX_BACKOFF_NANOS);
		}
	}

	/**
	 * Clears the interrupt of a body that ran right here, which is no concern of the next
	 * one. The flag comes first: an interrupt of {@link #close()} is not lost by that.
	 */
	private boolean isClosed() {
		Thread.interrupted();
		return this.closed;
	}

}
