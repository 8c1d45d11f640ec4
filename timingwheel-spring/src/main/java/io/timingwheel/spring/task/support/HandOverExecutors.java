package io.timingwheel.spring.task.support;

import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Keeps executors from blocking the wheel's thread. An executor whose {@code execute}
 * returns promptly is used as it is. Other threads call any other executor: a bounded
 * number of them, and one at a time for each executor. Thread-safe.
 *
 * @since 0.1
 */
public final class HandOverExecutors implements AutoCloseable {

	private static final Set<Class<?>> PROMPT_HANDLERS = Set.of(ThreadPoolExecutor.AbortPolicy.class,
			ThreadPoolExecutor.DiscardPolicy.class, ThreadPoolExecutor.DiscardOldestPolicy.class);

	/** Prompt executors of the JDK whose types are not public. */
	private static final Set<String> PROMPT_EXECUTORS = Set.of("java.util.concurrent.ThreadPerTaskExecutor");

	private final HandOverThreads threads = new HandOverThreads();

	/**
	 * Makes an executor safe to call on the wheel's thread.
	 * @param executor the executor
	 * @return the same executor if its {@code execute} is known not to block, else one
	 * that calls it on another thread
	 */
	public Executor safe(Executor executor) {
		return isPrompt(executor) ? executor : new HandOver(executor, this.threads);
	}

	/**
	 * Ends the threads, and drops the tasks that they have not handed over.
	 */
	@Override
	public void close() {
		this.threads.close();
	}

	/**
	 * Whether an executor is known not to block. Subclasses may override {@code execute},
	 * so the type must be exactly a known one.
	 */
	private static boolean isPrompt(Executor executor) {
		Class<?> type = executor.getClass();
		if (type == ThreadPoolTaskExecutor.class) {
			return isPrompt(((ThreadPoolTaskExecutor) executor).getThreadPoolExecutor().getRejectedExecutionHandler());
		}
		if (type == ThreadPoolTaskScheduler.class) {
			return isPrompt(((ThreadPoolTaskScheduler) executor).getScheduledThreadPoolExecutor()
				.getRejectedExecutionHandler());
		}
		if (type == SimpleAsyncTaskExecutor.class) {
			return !((SimpleAsyncTaskExecutor) executor).isThrottleActive();
		}
		if (type == ThreadPoolExecutor.class || type == ScheduledThreadPoolExecutor.class) {
			return isPrompt(((ThreadPoolExecutor) executor).getRejectedExecutionHandler());
		}
		return type == VirtualThreadTaskExecutor.class || type == ForkJoinPool.class || type == HandOver.class
				|| PROMPT_EXECUTORS.contains(type.getName());
	}

	private static boolean isPrompt(RejectedExecutionHandler handler) {
		return PROMPT_HANDLERS.contains(handler.getClass());
	}

	/**
	 * Stands for an executor that may block.
	 */
	private record HandOver(Executor executor, HandOverThreads threads) implements Executor {

		@Override
		public void execute(Runnable task) {
			this.threads.add(this.executor, task);
		}

	}

}
