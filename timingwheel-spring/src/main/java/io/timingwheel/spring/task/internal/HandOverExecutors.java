package io.timingwheel.spring.task.internal;

import java.util.ArrayDeque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/**
 * Keeps executors from blocking the wheel's thread. An executor whose {@code execute}
 * returns promptly is used as it is. Each other executor has a queue, and one thread at a
 * time takes the tasks of a queue in their order, so that an executor that blocks
 * occupies one thread. If an executor refuses a task, its queue waits, without a thread,
 * and the same task is tried again. During a pause all tasks wait in the queues of their
 * executors. Thread-safe.
 *
 * <p>
 * With virtual time no executor is called, and there is no pause: the thread that moves
 * the time runs the tasks.
 */
public final class HandOverExecutors implements AutoCloseable {

	static final int MAX_THREADS = 48;

	private static final Log logger = LogFactory.getLog(HandOverExecutors.class);

	private static final String THREAD_PREFIX = "timing-wheel-";

	private static final int MAX_COMPLETION_THREADS = 1_000;

	private static final long FIRST_BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** The queues that are not empty. The lock of this map guards all queues. */
	private final Map<Executor, SerialQueue> queues = new IdentityHashMap<>();

	private final ExecutorService threads = new WaitingThreads(THREAD_PREFIX + "hand-over-", MAX_THREADS);

	/**
	 * A completion may end work that occupies all threads of an executor of the
	 * application, and what depends on it may block, so completions have their own
	 * threads.
	 */
	private final ExecutorService completionThreads = new WaitingThreads(THREAD_PREFIX + "completion-",
			MAX_COMPLETION_THREADS);

	private final TaskLog refusals = new TaskLog(logger);

	private final boolean onCallingThread;

	private volatile boolean paused;

	public HandOverExecutors(boolean onCallingThread) {
		this.onCallingThread = onCallingThread;
	}

	/** For what completes a future or a publisher. Refuses nothing, returns at once. */
	public Executor completions() {
		return this.onCallingThread ? HandOverExecutors::runHere : this.completionThreads;
	}

	/**
	 * Hands a task over to an executor.
	 * @param failed takes, on another thread, what the executor throws if it is no
	 * refusal; {@code null} if each exception is one
	 * @throws RejectedExecutionException if the executor refuses the task at once
	 */
	public void handOver(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		if (this.onCallingThread) {
			runHere(task);
			return;
		}
		try {
			if (!this.paused && isPrompt(executor)) {
				executor.execute(task);
				return;
			}
		}
		catch (Throwable ex) {
			report(ex, failed);
			return;
		}
		keep(executor, task, failed);
	}

	private void keep(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		synchronized (this.queues) {
			if (this.threads.isShutdown()) {
				throw new RejectedExecutionException("The hand-over of tasks has ended");
			}
			SerialQueue queue = this.queues.computeIfAbsent(executor, SerialQueue::new);
			queue.tasks.add(new Task(task, failed));
			queue.serve();
		}
	}

	/**
	 * Hands a task over to an executor, which may have to be created. If the executor
	 * refuses the task now, it waits in the queue of this executor.
	 * @param failed takes, on another thread, what else the creation or the executor
	 * throws
	 * @throws RejectedExecutionException if there is no thread or no memory for the
	 * creation, or if the hand-over of tasks has ended
	 */
	public void handOverOrKeep(Supplier<? extends Executor> supplier, Runnable task,
			Consumer<? super Throwable> failed) {
		Executor executor;
		try {
			executor = Objects.requireNonNull(supplier.get(), "The task has no executor");
		}
		catch (Throwable ex) {
			report(ex, failed);
			return;
		}
		try {
			handOver(executor, task, failed);
		}
		catch (RejectedExecutionException ex) {
			keep(executor, task, failed);
		}
	}

	private void report(Throwable error, @Nullable Consumer<? super Throwable> failed) {
		if (error instanceof RejectedExecutionException refusal) {
			throw refusal;
		}
		if (failed == null || isRefusal(error)) {
			throw new RejectedExecutionException("The executor has not taken the task", error);
		}
		completions().execute(() -> failed.accept(error));
	}

	/** Whether an executor that threw may take the task later. */
	private static boolean isRefusal(Throwable error) {
		// Without more threads, the JVM throws an OutOfMemoryError. If the executor is a
		// bean that cannot be created now, its exception contains the error. A decorator
		// whose recursion does not end overflows the stack at each attempt.
		return (error instanceof VirtualMachineError && !(error instanceof StackOverflowError))
				|| (error instanceof BeansException failed && failed.contains(OutOfMemoryError.class));
	}

	public void pause() {
		this.paused = !this.onCallingThread;
	}

	public void resume() {
		synchronized (this.queues) {
			this.paused = false;
			this.queues.values().forEach(SerialQueue::serve);
		}
	}

	public boolean isPaused() {
		return this.paused;
	}

	/** Ends the threads, and drops what they have not handed over. */
	@Override
	public void close() {
		synchronized (this.queues) {
			this.queues.values().forEach((queue) -> queue.tasks.clear());
			this.queues.clear();
			this.threads.shutdownNow();
		}
		this.completionThreads.shutdown();
	}

	/** Runs a task, into and out of which no interrupt leaks. */
	private static void runHere(Runnable task) {
		boolean interrupted = Thread.interrupted();
		try {
			task.run();
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
			else {
				Thread.interrupted();
			}
		}
	}

	/** Whether an executor is exactly of a type that is known not to block. */
	static boolean isPrompt(Executor executor) {
		Class<?> type = executor.getClass();
		if (type == SimpleAsyncTaskExecutor.class) {
			return !((SimpleAsyncTaskExecutor) executor).isThrottleActive();
		}
		if (type == ThreadPoolTaskExecutor.class) {
			return aborts(((ThreadPoolTaskExecutor) executor).getThreadPoolExecutor());
		}
		return type == ThreadPoolExecutor.class && aborts((ThreadPoolExecutor) executor);
	}

	private static boolean aborts(ThreadPoolExecutor pool) {
		return pool.getRejectedExecutionHandler().getClass() == ThreadPoolExecutor.AbortPolicy.class;
	}

	private record Task(Runnable body, @Nullable Consumer<? super Throwable> failed) {

	}

	/** The tasks that wait for one executor. Running it hands the first one over. */
	private final class SerialQueue implements Runnable {

		private final Executor executor;

		private final Queue<Task> tasks = new ArrayDeque<>();

		private boolean served;

		private long backoffNanos = FIRST_BACKOFF_NANOS;

		SerialQueue(Executor executor) {
			this.executor = executor;
		}

		void serve() {
			if (!this.served && !HandOverExecutors.this.paused) {
				HandOverExecutors.this.threads.execute(this);
				this.served = true;
			}
		}

		@Override
		public void run() {
			Task first;
			synchronized (HandOverExecutors.this.queues) {
				first = HandOverExecutors.this.paused ? null : this.tasks.peek();
				this.served = first != null;
			}
			if (first == null) {
				return;
			}
			try {
				this.executor.execute(first.body());
			}
			catch (Throwable ex) {
				try {
					report(ex, first.failed());
				}
				catch (RejectedExecutionException refusal) {
					// If a body ran on this thread and threw, the next attempt does not
					// run it again.
					tryLater(ex);
					return;
				}
			}
			handedOver();
		}

		private void tryLater(Throwable refusal) {
			if (this.backoffNanos == FIRST_BACKOFF_NANOS) {
				String executor = "An executor of " + this.executor.getClass();
				UserErrors.log(logger::debug, executor + " has refused a task", refusal);
				HandOverExecutors.this.refusals.warn(executor + " refuses tasks, which wait and are handed over again."
						+ " Give the executor more threads or a longer queue, or schedule fewer tasks");
			}
			CompletableFuture.delayedExecutor(this.backoffNanos, TimeUnit.NANOSECONDS, HandOverExecutors.this.threads)
				.execute(this);
			this.backoffNanos = Math.min(2 * this.backoffNanos, MAX_BACKOFF_NANOS);
		}

		private void handedOver() {
			synchronized (HandOverExecutors.this.queues) {
				this.backoffNanos = FIRST_BACKOFF_NANOS;
				this.served = false;
				this.tasks.poll();
				if (this.tasks.isEmpty()) {
					HandOverExecutors.this.queues.remove(this.executor, this);
				}
				else {
					serve();
				}
			}
		}

	}

	/**
	 * Daemon threads for work that may block. A task goes to an idle thread or to a new
	 * one. Beyond a number of threads it tries again every 100 ms. A thread ends when it
	 * has been idle for 10 seconds. Thread-safe.
	 */
	private static final class WaitingThreads extends ThreadPoolExecutor {

		private static final AtomicInteger names = new AtomicInteger();

		private static final long IDLE_SECONDS = 10;

		private static final long RETRY_MILLIS = 100;

		WaitingThreads(String name, int max) {
			super(0, max, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), (run) -> thread(name, run));
		}

		/**
		 * A thread that inherits no thread-locals, since they would come from an
		 * arbitrary caller.
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
					// The application has ended.
					ForkJoinPool.commonPool().execute(task);
					return;
				}
				// All threads are busy, or the machine has no more.
				CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
					.execute(() -> execute(task));
			}
		}

	}

}
