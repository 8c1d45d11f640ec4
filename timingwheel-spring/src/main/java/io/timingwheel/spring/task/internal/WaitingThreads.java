package io.timingwheel.spring.task.internal;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Daemon threads for work that may block. Before the last idle thread takes a task it
 * starts another one, up to a number. So a task waits for no other task, and many short
 * tasks need few threads. A thread ends when it has been idle for 10 seconds.
 * Thread-safe.
 */
final class WaitingThreads {

	private static final Log logger = LogFactory.getLog(WaitingThreads.class);

	private static final AtomicInteger names = new AtomicInteger();

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long RESTART_MILLIS = 100;

	private final String name;

	private final int max;

	/** Guards all fields. No thread holds the lock while it runs a task. */
	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Queue<Runnable> queue = new ArrayDeque<>();

	private final Set<Thread> threads = new HashSet<>();

	/** How many threads look for a task, or have been started and soon will. */
	private int idle;

	private boolean closed;

	WaitingThreads(String name, int max) {
		this.name = name;
		this.max = max;
	}

	/** Adds a task; {@code false} after {@link #close}. */
	boolean add(Runnable task) {
		this.lock.lock();
		try {
			if (!this.closed) {
				this.queue.add(task);
				if (this.idle == 0) {
					start();
				}
				else {
					this.changed.signal();
				}
			}
			return !this.closed;
		}
		finally {
			this.lock.unlock();
		}
	}

	Set<Thread> close(boolean now) {
		this.lock.lock();
		try {
			this.closed = true;
			if (now) {
				this.queue.clear();
				this.threads.forEach(Thread::interrupt);
			}
			this.changed.signalAll();
			return Set.copyOf(this.threads);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void start() {
		if (this.threads.size() >= this.max) {
			return;
		}
		// The thread inherits no thread-locals, since they would come from an arbitrary
		// caller.
		Thread thread = new Thread(null, this::run, this.name + names.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		try {
			thread.start();
			this.threads.add(thread);
			this.idle++;
		}
		catch (OutOfMemoryError ex) {
			// The machine has no more threads at the moment.
			CompletableFuture.delayedExecutor(RESTART_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
				.execute(() -> add(() -> {
				}));
		}
	}

	private void run() {
		for (Runnable task = next(0); task != null; task = next(1)) {
			try {
				task.run();
			}
			catch (Throwable ex) {
				UserErrors.log(logger::error, "A task of " + Thread.currentThread().getName() + " has failed", ex);
			}
			finally {
				// The next task must not see an interrupt of this one.
				Thread.interrupted();
			}
		}
	}

	/** Waits for a task, {@code null} if the thread is to end. */
	private @Nullable Runnable next(int ended) {
		this.lock.lock();
		this.idle += ended;
		try {
			long left = IDLE_NANOS;
			while (this.queue.isEmpty() && !this.closed && left > 0) {
				left = await(left);
			}
			Runnable task = this.queue.poll();
			if (task == null) {
				this.threads.remove(Thread.currentThread());
			}
			else if (this.idle == 1 && !this.closed) {
				start();
			}
			return task;
		}
		finally {
			this.idle--;
			this.lock.unlock();
		}
	}

	private long await(long nanos) {
		try {
			return this.changed.awaitNanos(nanos);
		}
		catch (InterruptedException ex) {
			// Comes from an earlier task.
			return nanos;
		}
	}

}
