package io.timingwheel.spring.task.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Keeps executors from blocking the wheel's thread. An executor whose {@code execute}
 * returns promptly is used as it is. Other threads call any other executor: a bounded
 * number of them, and one at a time for each executor. During a pause no task is handed
 * over. Thread-safe.
 *
 * <p>
 * With virtual time no executor is called: the thread that moves the time runs the tasks.
 */
public final class HandOverExecutors implements AutoCloseable {

	private static final Set<Class<?>> PROMPT_HANDLERS = Set.of(ThreadPoolExecutor.AbortPolicy.class,
			ThreadPoolExecutor.DiscardPolicy.class, ThreadPoolExecutor.DiscardOldestPolicy.class);

	private static final Set<String> PROMPT_EXECUTORS = Set.of(VirtualThreadTaskExecutor.class.getName(),
			ForkJoinPool.class.getName(), "java.util.concurrent.ThreadPerTaskExecutor");

	static final String THREAD_PREFIX = "timing-wheel-";

	private static final int MAX_COMPLETION_THREADS = 1_000;

	/** How long {@link #close()} waits for the end of the threads. */
	private static final long CLOSE_MILLIS = 1_000;

	private final HandOverThreads threads = new HandOverThreads();

	/**
	 * A completion may end work that occupies all threads of an executor of the
	 * application, and what depends on it may block, so completions have their own
	 * threads.
	 */
	private final ExecutorService completionThreads = new WaitingThreads(THREAD_PREFIX + "completion-",
			MAX_COMPLETION_THREADS);

	private final Executor completions;

	/** The tasks that wait for the end of the pause, guarded by this list. */
	private final List<Runnable> heldBack = new ArrayList<>();

	private final boolean onCallingThread;

	private volatile boolean paused;

	public HandOverExecutors() {
		this(false);
	}

	private HandOverExecutors(boolean onCallingThread) {
		this.onCallingThread = onCallingThread;
		this.completions = onCallingThread ? HandOverExecutors::runHere : this::complete;
	}

	/**
	 * Hands each task over to the current thread, whatever its executor is.
	 */
	public static HandOverExecutors onCallingThread() {
		return new HandOverExecutors(true);
	}

	/**
	 * The executor for what completes a future or a publisher of this library. It refuses
	 * nothing, and returns at once.
	 */
	public Executor completions() {
		return this.completions;
	}

	private void complete(Runnable completion) {
		try {
			this.completionThreads.execute(completion);
		}
		catch (RejectedExecutionException ex) {
			// The application has ended.
			ForkJoinPool.commonPool().execute(completion);
		}
	}

	/**
	 * Hands a task over to an executor, or holds it back during a pause.
	 * @param failed takes, on another thread, what the executor throws if it is no
	 * refusal; {@code null} if each exception is one
	 * @throws RejectedExecutionException if the executor refuses the task at once
	 */
	public void handOver(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		if (holdBack(executor, task, failed)) {
			return;
		}
		if (this.onCallingThread) {
			runHere(task);
			return;
		}
		try {
			if (isPrompt(executor)) {
				executor.execute(task);
				return;
			}
		}
		catch (Throwable ex) {
			report(ex, failed);
			return;
		}
		this.threads.add(executor, task, failed);
	}

	/**
	 * Gets the executor of a task, which may have to be created.
	 * @return the executor, {@code null} if {@code failed} takes an exception
	 * @throws RejectedExecutionException if there is no thread or no memory for it
	 */
	public @Nullable Executor resolve(Supplier<? extends Executor> executor, Consumer<? super Throwable> failed) {
		try {
			return Objects.requireNonNull(executor.get(), "The task has no executor");
		}
		catch (Throwable ex) {
			report(ex, failed);
			return null;
		}
	}

	/** Reports what an executor has thrown, unless it is a refusal. */
	private void report(Throwable error, @Nullable Consumer<? super Throwable> failed) {
		if (error instanceof RejectedExecutionException refusal) {
			throw refusal;
		}
		if (failed == null || HandOverThreads.isRefusal(error)) {
			throw new RejectedExecutionException("The executor has not taken the task", error);
		}
		this.completions.execute(() -> failed.accept(error));
	}

	/**
	 * An executor for the wheel's thread that holds its tasks back during a pause.
	 */
	public Executor pausable(Supplier<? extends Executor> executor) {
		return (task) -> handOver(executor.get(), () -> runUnlessPaused(executor, task), null);
	}

	private void runUnlessPaused(Supplier<? extends Executor> executor, Runnable task) {
		if (!this.paused || !holdBack(executor.get(), () -> runUnlessPaused(executor, task), null)) {
			task.run();
		}
	}

	public void pause() {
		this.paused = true;
	}

	/**
	 * Ends a pause, and hands over the tasks that were held back.
	 */
	public void resume() {
		List<Runnable> released;
		synchronized (this.heldBack) {
			this.paused = false;
			released = List.copyOf(this.heldBack);
			this.heldBack.clear();
		}
		// Without the lock, for which the wheel's thread may wait.
		released.forEach(Runnable::run);
	}

	public boolean isPaused() {
		return this.paused;
	}

	/**
	 * Holds a task back if there is a pause. A task calls this before it begins, since it
	 * may have been handed over before the pause.
	 */
	public boolean holdBack(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		if (!this.paused) {
			return false;
		}
		synchronized (this.heldBack) {
			return this.paused && this.heldBack.add(() -> release(executor, task, failed));
		}
	}

	private void release(Executor executor, Runnable task, @Nullable Consumer<? super Throwable> failed) {
		if (this.onCallingThread) {
			runHere(task);
		}
		else {
			this.threads.add(executor, task, failed);
		}
	}

	/**
	 * Ends the threads, and drops what they have not handed over. Waits a short time for
	 * their end, unless one of them calls this.
	 */
	@Override
	public void close() {
		ExecutorService handOverThreads = this.threads.close();
		this.completionThreads.shutdown();
		if (Thread.currentThread().getName().startsWith(THREAD_PREFIX)) {
			return;
		}
		long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
		try {
			for (ExecutorService ending : List.of(handOverThreads, this.completionThreads)) {
				ending.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
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
		Executor pool = executor;
		if (type == ThreadPoolTaskExecutor.class) {
			pool = ((ThreadPoolTaskExecutor) executor).getThreadPoolExecutor();
		}
		else if (type == ThreadPoolTaskScheduler.class) {
			pool = ((ThreadPoolTaskScheduler) executor).getScheduledThreadPoolExecutor();
		}
		else if (type == SimpleAsyncTaskExecutor.class) {
			return !((SimpleAsyncTaskExecutor) executor).isThrottleActive();
		}
		else if (type != ThreadPoolExecutor.class && type != ScheduledThreadPoolExecutor.class) {
			return PROMPT_EXECUTORS.contains(type.getName());
		}
		return PROMPT_HANDLERS.contains(((ThreadPoolExecutor) pool).getRejectedExecutionHandler().getClass());
	}

}
