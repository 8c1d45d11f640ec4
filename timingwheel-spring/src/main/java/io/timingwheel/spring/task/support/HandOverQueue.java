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
 * queue. One thread calls the executor in the order of the queue. If the executor refuses
 * a task, the thread tries the same task again. The thread ends when it has been idle for
 * 10 seconds.
 */
final class HandOverQueue implements Executor, AutoCloseable {

	private static final Log logger = LogFactory.getLog(HandOverQueue.class);

	private static final AtomicInteger threads = new AtomicInteger();

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long FIRST_BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final Executor executor;

	/**
	 * Holds this queue while its thread lives, so that an executor has only one thread.
	 */
	private final ConcurrentMap<Executor, HandOverQueue> active;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition added = this.lock.newCondition();

	private final Queue<Runnable> queue = new ArrayDeque<>();

	private @Nullable Thread thread;

	private volatile boolean closed;

	HandOverQueue(Executor executor, ConcurrentMap<Executor, HandOverQueue> active) {
		this.executor = executor;
		this.active = active;
	}

	@Override
	public void execute(Runnable task) {
		this.lock.lock();
		try {
			if (this.closed) {
				throw new RejectedExecutionException("The hand-over queue is closed");
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
		// The thread inherits no thread-locals, since they would come from an arbitrary
		// task.
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
					// The interrupt comes from close(), or from a body that ran on this
					// thread.
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
				// If a body ran on this thread and threw, the next attempt does not run
				// it again.
				if (backoff == FIRST_BACKOFF_NANOS) {
					logger.debug("Refused by " + this.executor + ", trying again", ex);
				}
			}
			LockSupport.parkNanos(backoff);
			backoff = Math.min(2 * backoff, MAX_BACKOFF_NANOS);
		}
	}

	/**
	 * Clears an interrupt that a body has left behind, so that the next body does not see
	 * it. This may also clear the interrupt of {@link #close()}, which sets the field
	 * before it interrupts.
	 */
	private boolean isClosed() {
		Thread.interrupted();
		return this.closed;
	}

}
