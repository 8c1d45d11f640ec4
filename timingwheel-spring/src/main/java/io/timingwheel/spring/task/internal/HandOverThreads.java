package io.timingwheel.spring.task.internal;

import java.util.ArrayDeque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;

/**
 * Calls executors whose {@code execute} may block. Each executor has a queue, and one
 * thread at a time takes the tasks of a queue in their order, so that an executor that
 * blocks occupies one thread. After each task a thread serves the executor that has
 * waited longest. If an executor refuses a task, its queue waits, without a thread, and
 * the same task is tried again. Thread-safe.
 */
final class HandOverThreads {

	static final int MAX_THREADS = 48;

	private static final Log logger = LogFactory.getLog(HandOverThreads.class);

	private static final long FIRST_BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** The queues that are not empty. This map guards itself and the queues. */
	private final Map<Executor, SerialQueue> queues = new IdentityHashMap<>();

	private final ExecutorService threads = new WaitingThreads(HandOverExecutors.THREAD_PREFIX + "hand-over-",
			MAX_THREADS);

	/**
	 * @param failed takes what the executor throws if it is no refusal; {@code null} to
	 * try again then, too
	 */
	void add(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		synchronized (this.queues) {
			if (this.threads.isShutdown()) {
				throw new RejectedExecutionException("The hand-over of tasks has ended");
			}
			SerialQueue queue = this.queues.computeIfAbsent(executor, SerialQueue::new);
			queue.tasks.add(new Entry(task, failed));
			if (queue.tasks.size() == 1) {
				this.threads.execute(queue);
			}
		}
	}

	ExecutorService close() {
		synchronized (this.queues) {
			this.queues.clear();
			this.threads.shutdownNow();
			return this.threads;
		}
	}

	/** Whether an executor that threw may take the task later. */
	static boolean isRefusal(Throwable error) {
		// Without more threads, the JVM throws an OutOfMemoryError. If the executor is a
		// bean that cannot be created now, its exception contains the error. A decorator
		// whose recursion does not end overflows the stack at each attempt.
		return error instanceof RejectedExecutionException
				|| (error instanceof VirtualMachineError && !(error instanceof StackOverflowError))
				|| (error instanceof BeansException failed && failed.contains(OutOfMemoryError.class));
	}

	/** The tasks that wait for one executor. Running it hands the first one over. */
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
				first = this.tasks.element();
			}
			try {
				this.executor.execute(first.task());
			}
			catch (Throwable ex) {
				// If a body ran on this thread and threw, the next attempt does not run
				// it again.
				if (first.failed() == null || isRefusal(ex)) {
					tryLater(ex);
					return;
				}
				report(ex, first.failed());
			}
			handedOver();
		}

		private void tryLater(Throwable refusal) {
			if (this.backoffNanos == FIRST_BACKOFF_NANOS) {
				UserErrors.log(logger::debug,
						"Refused by an executor of " + this.executor.getClass() + ", trying again", refusal);
			}
			CompletableFuture.delayedExecutor(this.backoffNanos, TimeUnit.NANOSECONDS, HandOverThreads.this.threads)
				.execute(this);
			this.backoffNanos = Math.min(2 * this.backoffNanos, MAX_BACKOFF_NANOS);
		}

		private void report(Throwable error, Consumer<? super Throwable> failed) {
			try {
				failed.accept(error);
			}
			catch (Throwable ex) {
				UserErrors.log(logger::error, "A task whose executor threw an exception could not be ended", ex);
			}
		}

		private void handedOver() {
			HandOverThreads handOver = HandOverThreads.this;
			synchronized (handOver.queues) {
				this.backoffNanos = FIRST_BACKOFF_NANOS;
				this.tasks.remove();
				if (this.tasks.isEmpty()) {
					handOver.queues.remove(this.executor, this);
				}
				else if (!handOver.threads.isShutdown()) {
					handOver.threads.execute(this);
				}
			}
		}

	}

	private record Entry(Runnable task, @Nullable Consumer<? super Throwable> failed) {

	}

}
