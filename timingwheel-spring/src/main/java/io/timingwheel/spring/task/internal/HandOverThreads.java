package io.timingwheel.spring.task.internal;

import java.util.ArrayDeque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * The threads that call executors whose {@code execute} may block. Each executor has a
 * queue, and one thread at a time takes the tasks of a queue in their order, so that an
 * executor that blocks occupies one thread. After each task a thread serves the executor
 * that has waited longest. If an executor refuses a task, its queue waits, without a
 * thread, and the same task is tried again. Thread-safe.
 */
final class HandOverThreads {

	static final int MAX_THREADS = 48;

	private static final Log logger = LogFactory.getLog(HandOverThreads.class);

	private static final AtomicInteger names = new AtomicInteger();

	private static final long IDLE_SECONDS = 10;

	private static final long FIRST_BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * The queues that are not empty. This map guards itself, the queues, and the field
	 * {@link #closed}.
	 */
	private final Map<Executor, SerialQueue> queues = new IdentityHashMap<>();

	private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

	private final ReadyQueue ready = new ReadyQueue();

	private final ThreadPoolExecutor pool = new ThreadPoolExecutor(0, MAX_THREADS, IDLE_SECONDS, TimeUnit.SECONDS,
			this.ready, this::newThread, (queue, pool) -> this.ready.enqueue(queue));

	private boolean closed;

	/**
	 * Adds a task to the queue of its executor.
	 * @param failed takes what the executor throws if it is not a refusal; {@code null}
	 * to try again then, too
	 * @throws RejectedExecutionException after {@link #close()}
	 */
	void add(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		synchronized (this.queues) {
			if (this.closed) {
				throw new RejectedExecutionException("The hand-over of tasks has ended");
			}
			SerialQueue queue = this.queues.computeIfAbsent(executor, SerialQueue::new);
			queue.tasks.add(new Entry(task, failed));
			if (queue.tasks.size() == 1) {
				serve(queue);
			}
		}
	}

	/**
	 * Ends the threads, and drops the tasks that they have not handed over.
	 * @return the threads that have not ended
	 */
	Set<Thread> close() {
		synchronized (this.queues) {
			this.closed = true;
			this.queues.clear();
		}
		this.pool.shutdownNow();
		return Set.copyOf(this.threads);
	}

	private Thread newThread(Runnable worker) {
		// The thread inherits no thread-locals, since they would come from an arbitrary
		// task.
		Thread thread = new Thread(null, () -> {
			this.threads.add(Thread.currentThread());
			try {
				worker.run();
			}
			finally {
				this.threads.remove(Thread.currentThread());
			}
		}, "timing-wheel-hand-over-" + names.incrementAndGet(), 0, false);
		thread.setDaemon(true);
		return thread;
	}

	private void serve(Runnable queue) {
		try {
			this.pool.execute(queue);
		}
		catch (OutOfMemoryError ex) {
			// The machine has no more threads at the moment.
			serveLater(queue, MAX_BACKOFF_NANOS);
		}
	}

	private void serveLater(Runnable queue, long nanos) {
		CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, this::serve).execute(queue);
	}

	/**
	 * Whether an executor that threw may take the task later. Other exceptions come from
	 * what the executor calls before it takes the task, such as a {@code TaskDecorator}.
	 */
	static boolean isRefusal(Throwable error) {
		// Without more threads, the JVM throws an OutOfMemoryError. If the executor is a
		// bean that has to be created, another exception contains the error. A decorator
		// whose recursion does not end overflows the stack at each attempt.
		return error instanceof RejectedExecutionException
				|| (error instanceof VirtualMachineError && !(error instanceof StackOverflowError))
				|| UserErrors.rootCause(error) instanceof OutOfMemoryError;
	}

	/**
	 * The tasks that wait for one executor. Running it hands the first one over.
	 */
	private final class SerialQueue implements Runnable {

		private final Executor executor;

		private final Queue<Entry> tasks = new ArrayDeque<>();

		private long backoffNanos = FIRST_BACKOFF_NANOS;

		SerialQueue(Executor executor) {
			this.executor = executor;
		}

		@Override
		public void run() {
			Entry first;
			synchronized (HandOverThreads.this.queues) {
				first = HandOverThreads.this.closed ? null : this.tasks.peek();
			}
			if (first != null) {
				settle(handOver(first));
			}
		}

		/**
		 * Hands a task over.
		 * @return whether the executor has taken the task, or the task has failed
		 */
		private boolean handOver(Entry entry) {
			try {
				this.executor.execute(entry.task());
				return true;
			}
			catch (Throwable ex) {
				// If a body ran on this thread and threw, the next attempt does not run
				// it again.
				if (entry.failed() != null && !isRefusal(ex)) {
					report(ex, entry.failed());
					return true;
				}
				if (this.backoffNanos == FIRST_BACKOFF_NANOS) {
					UserErrors.log(logger::debug,
							"Refused by an executor of " + this.executor.getClass() + ", trying again", ex);
				}
				return false;
			}
		}

		private void report(Throwable error, Consumer<? super Throwable> failed) {
			try {
				failed.accept(error);
			}
			catch (Throwable ex) {
				UserErrors.log(logger::error, "A task whose executor threw an exception could not be ended", ex);
			}
		}

		private void settle(boolean handedOver) {
			HandOverThreads threads = HandOverThreads.this;
			synchronized (threads.queues) {
				if (!handedOver) {
					serveLater(this, this.backoffNanos);
					this.backoffNanos = Math.min(2 * this.backoffNanos, MAX_BACKOFF_NANOS);
					return;
				}
				this.backoffNanos = FIRST_BACKOFF_NANOS;
				this.tasks.remove();
				if (this.tasks.isEmpty()) {
					threads.queues.remove(this.executor, this);
				}
				else {
					// The current thread takes the next queue, so no thread is started.
					threads.ready.enqueue(this);
				}
			}
		}

	}

	/**
	 * A task that waits.
	 */
	private record Entry(Runnable task, @Nullable Consumer<? super Throwable> failed) {

	}

	/**
	 * The queues that wait for a thread. The pool offers a queue to an idle thread only,
	 * so that it starts a thread before a queue waits.
	 */
	private static final class ReadyQueue extends LinkedTransferQueue<Runnable> {

		private static final long serialVersionUID = 1L;

		@Override
		public boolean offer(Runnable queue) {
			return tryTransfer(queue);
		}

		void enqueue(Runnable queue) {
			super.offer(queue);
		}

	}

}
