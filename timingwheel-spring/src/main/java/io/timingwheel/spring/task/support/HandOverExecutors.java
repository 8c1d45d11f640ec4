package io.timingwheel.spring.task.support;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Predicate;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Keeps executors from blocking the wheel's thread. An executor whose {@code execute}
 * returns promptly is used as it is. A separate thread calls any other executor.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class HandOverExecutors implements AutoCloseable {

	private static final Set<Class<?>> PROMPT_HANDLERS = Set.of(ThreadPoolExecutor.AbortPolicy.class,
			ThreadPoolExecutor.DiscardPolicy.class, ThreadPoolExecutor.DiscardOldestPolicy.class);

	/** Prompt executors of the JDK whose types are not public. */
	private static final Set<String> PROMPT_EXECUTORS = Set.of("java.util.concurrent.ThreadPerTaskExecutor");

	/** An entry is removed when its thread ends. */
	private final ConcurrentMap<Executor, HandOverQueue> handOvers = new ConcurrentHashMap<>();

	private final Predicate<? super Executor> trusted;

	private volatile boolean closed;

	/**
	 * Creates an instance that trusts the executors of the JDK and of Spring that are
	 * known not to block.
	 */
	public HandOverExecutors() {
		this((executor) -> false);
	}

	/**
	 * Creates an instance that also trusts other executors.
	 * @param trusted whether the {@code execute} of an executor returns promptly, for
	 * executors that are not known
	 */
	public HandOverExecutors(Predicate<? super Executor> trusted) {
		this.trusted = trusted;
	}

	/**
	 * Makes an executor safe to call on the wheel's thread.
	 * @param executor the executor
	 * @return the same executor if its {@code execute} is known not to block, else one
	 * that calls it on a thread of its own
	 */
	public Executor safe(Executor executor) {
		return (isPrompt(executor) || this.trusted.test(executor)) ? executor : handOver(executor);
	}

	private Executor handOver(Executor executor) {
		HandOverQueue handOver = this.handOvers.get(executor);
		if (handOver == null) {
			handOver = this.handOvers.computeIfAbsent(executor, (key) -> new HandOverQueue(key, this.handOvers));
			if (this.closed) {
				handOver.close();
			}
		}
		return handOver;
	}

	/**
	 * Ends the threads, and drops the tasks that they have not handed over.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.handOvers.values().forEach(HandOverQueue::close);
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
		return type == VirtualThreadTaskExecutor.class || type == ForkJoinPool.class || type == HandOverQueue.class
				|| PROMPT_EXECUTORS.contains(type.getName());
	}

	private static boolean isPrompt(RejectedExecutionHandler handler) {
		return PROMPT_HANDLERS.contains(handler.getClass());
	}

}
