package io.timingwheel.spring.task.internal;

import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads that complete the futures and publishers of this library, and so run what
 * the application has made dependent on them. A completion may end work that occupies all
 * threads of an executor of the application. Completions therefore have threads of their
 * own.
 *
 * <p>
 * What depends on a completion may block, and may wait for another completion. So one
 * thread is always kept back. It takes a completion only if the others have not taken the
 * completion within some milliseconds, and another thread is started first. Many short
 * completions at once therefore need few threads, and completions that block get one
 * each, up to {@value #MAX_THREADS}. A thread ends when it has been idle for 10 seconds.
 *
 * <p>
 * No completion is refused: once the threads are closed, the common pool of the JVM runs
 * the completions. Thread-safe.
 */
final class CompletionThreads implements Executor {

	static final int MAX_THREADS = 1_000;

	/** Up to this number threads are started without a wait. */
	private static final int FEW_THREADS = 4;

	private static final Log logger = LogFactory.getLog(CompletionThreads.class);

	private static final AtomicInteger names = new AtomicInteger();

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	/** How long a completion waits for another thread, if completions come to an end. */
	private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** How long a completion waits for another thread, if all completions block. */
	private static final long BLOCKED_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long RESTART_MILLIS = 100;

	/**
	 * Guards all fields. No thread holds the lock while it runs a completion.
	 */
	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Queue<Entry> queue = new ArrayDeque<>();

	private final Set<Thread> threads = new HashSet<>();

	/** How many threads look for a completion, or have been started and soon will. */
	private int idle;

	/** When the last thread was started because the others were busy. */
	private long grownNanos = System.nanoTime();

	/** Whether a completion has ended since then. */
	private boolean progress;

	private boolean closed;

	@Override
	public void execute(Runnable completion) {
		this.lock.lock();
		try {
			if (!this.closed) {
				this.queue.add(new Entry(completion, System.nanoTime()));
				if (this.idle == 0) {
					start();
				}
				else {
					this.changed.signal();
				}
				return;
			}
		}
		finally {
			this.lock.unlock();
		}
		ForkJoinPool.commonPool().execute(completion);
	}

	/**
	 * Lets the threads end as soon as they have run the completions that wait.
	 * @return the threads that have not ended
	 */
	Set<Thread> close() {
		this.lock.lock();
		try {
			this.closed = true;
			this.changed.signalAll();
			return Set.copyOf(this.threads);
		}
		finally {
			this.lock.unlock();
		}
	}

	private void start() {
		if (this.threads.size() >= MAX_THREADS) {
			return;
		}
		// The thread inherits no thread-locals, since they would come from an arbitrary
		// caller.
		Thread thread = new Thread(null, this::run, "timing-wheel-completion-" + names.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		try {
			thread.start();
			this.threads.add(thread);
			this.idle++;
		}
		catch (OutOfMemoryError ex) {
			// The machine has no more threads at the moment.
			CompletableFuture.delayedExecutor(RESTART_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
				.execute(this::startAgain);
		}
	}

	private void startAgain() {
		this.lock.lock();
		try {
			if (this.idle == 0 && !this.queue.isEmpty()) {
				start();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private void run() {
		for (Runnable completion = next(false); completion != null; completion = next(true)) {
			try {
				completion.run();
			}
			catch (Throwable ex) {
				logger.error("A completion has failed", ex);
			}
			finally {
				// The next completion must not see an interrupt of this one.
				Thread.interrupted();
			}
		}
	}

	/**
	 * Waits for a completion.
	 * @param ended whether this thread has run one
	 * @return the completion, {@code null} if the thread is to end
	 */
	private @Nullable Runnable next(boolean ended) {
		this.lock.lock();
		try {
			if (ended) {
				this.idle++;
				this.progress = true;
			}
			long idleSince = System.nanoTime();
			while (true) {
				long now = System.nanoTime();
				Entry head = this.queue.peek();
				long wait = (head != null) ? waitFor(head, now) : idleSince + IDLE_NANOS - now;
				if (head == null && (this.closed || wait <= 0)) {
					this.threads.remove(Thread.currentThread());
					return null;
				}
				if (head != null && wait <= 0) {
					if (this.idle == 1 && !this.closed) {
						this.grownNanos = now;
						this.progress = false;
						start();
					}
					this.queue.remove();
					return head.completion();
				}
				await(wait);
			}
		}
		finally {
			this.idle--;
			this.lock.unlock();
		}
	}

	/**
	 * How long this thread leaves a completion to the others. Only the last idle thread
	 * does.
	 */
	private long waitFor(Entry head, long now) {
		if (this.idle > 1 || this.closed || this.threads.size() < FEW_THREADS) {
			return 0;
		}
		long since = (head.sinceNanos() - this.grownNanos > 0) ? head.sinceNanos() : this.grownNanos;
		return since + (this.progress ? WAIT_NANOS : BLOCKED_WAIT_NANOS) - now;
	}

	private void await(long nanos) {
		try {
			this.changed.awaitNanos(nanos);
		}
		catch (InterruptedException ex) {
			// Comes from what depended on an earlier completion.
		}
	}

	/**
	 * A completion that waits.
	 */
	private record Entry(Runnable completion, long sinceNanos) {

	}

}
