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
 * Keeps the wheel's thread from being blocked by an executor: one whose {@code execute}
 * returns promptly is used as it is, any other is fed by a thread of its own.
 * Thread-safe.
 */
public final class HandOverExecutors implements AutoCloseable {

	private static final Set<Class<?>> PROMPT_HANDLERS = Set.of(ThreadPoolExecutor.AbortPolicy.class,
			ThreadPoolExecutor.DiscardPolicy.class, ThreadPoolExecutor.DiscardOldestPolicy.class);

	/** Of the JDK's own executors that are safe but not public. */
	private static final Set<String> PROMPT_EXECUTORS = Set.of("java.util.concurrent.ThreadPerTaskExecutor");

	/** An entry goes when its thread has nothing to do for a while. */
	private final ConcurrentMap<Executor, HandOverExecutor> handOvers = new ConcurrentHashMap<>();

	private final Predicate<? super Executor> trusted;

	private volatile boolean closed;

	/**
	 * Trusts the executors of the JDK and of Spring that are known not to block.
	 */
	public HandOverExecutors() {
		this((executor) -> false);
	}

	/**
	 * Trusts more executors than those that are known not to block.
	 * @param trusted tells of any other executor whether its {@code execute} returns
	 * promptly
	 */
	public HandOverExecutors(Predicate<? super Executor> trusted) {
		this.trusted = trusted;
	}

	/**
	 * Finds out how to hand tasks over to an executor.
	 * @param executor the executor
	 * @return the same executor if its {@code execute} is known not to block, else one
	 * that hands over on a thread of its own
	 */
	public Executor safe(Executor executor) {
		return (isPrompt(executor) || this.trusted.test(executor)) ? executor : handOver(executor);
	}

	private Executor handOver(Executor executor) {
		HandOverExecutor handOver = this.handOvers.get(executor);
		if (handOver == null) {
			handOver = this.handOvers.computeIfAbsent(executor, (key) -> new HandOverExecutor(key, this.handOvers));
			if (this.closed) {
				handOver.close();
			}
		}
		return handOver;
	}

	/**
	 * Ends the threads. What they have not handed over is dropped.
	 */
	@Override
	public void close() {
		this.closed = true;
		this.handOvers.values().forEach(HandOverExecutor::close);
	}

	/**
	 * Subclasses are not trusted, as they may have overridden {@code execute}.
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
		return type == VirtualThreadTaskExecutor.class || type == ForkJoinPool.class || type == HandOverExecutor.class
				|| PROMPT_EXECUTORS.contains(type.getName());
	}

	private static boolean isPrompt(RejectedExecutionHandler handler) {
		return PROMPT_HANDLERS.contains(handler.getClass());
	}

}
