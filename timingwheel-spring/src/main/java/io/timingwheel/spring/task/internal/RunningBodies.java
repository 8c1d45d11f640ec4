package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import org.jspecify.annotations.Nullable;

/**
 * The threads that run bodies. A body may end the application, by closing the application
 * context or by {@link System#exit}. This body returns only when the application has
 * ended, so the shutdown must not wait for it. Thread-safe.
 */
public final class RunningBodies {

	private static final long MAX_PAUSE_MILLIS = 100;

	/** How many bodies each thread runs. A body may run another on its thread. */
	private final Map<Thread, Integer> byThread = new ConcurrentHashMap<>();

	/**
	 * Runs a body within the interceptor, with the execution as the thread's
	 * {@link DelayedTaskContext}.
	 */
	public @Nullable Object run(TaskExecution execution, Body body, TaskExecution.@Nullable Interceptor interceptor)
			throws Throwable {
		DelayedTaskContext outer = DelayedTaskContext.Holder.get();
		DelayedTaskContext.Holder.set(execution);
		this.byThread.merge(Thread.currentThread(), 1, Integer::sum);
		try {
			return (interceptor != null) ? interceptor.intercept(execution, body) : body.run();
		}
		finally {
			this.byThread.computeIfPresent(Thread.currentThread(),
					(thread, bodies) -> (bodies > 1) ? bodies - 1 : null);
			DelayedTaskContext.Holder.set(outer);
		}
	}

	public long waitingForEnd() {
		return this.byThread.entrySet()
			.stream()
			.filter((bodies) -> waitsForEnd(bodies.getKey()))
			.mapToLong(Map.Entry::getValue)
			.sum();
	}

	/**
	 * Waits for a condition, such as that all bodies have ended.
	 * @return whether it was true within the period
	 */
	public static boolean await(BooleanSupplier condition, Duration period) throws InterruptedException {
		long start = System.nanoTime();
		long pause = 1;
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - start >= TimeUnit.NANOSECONDS.convert(period)) {
				return false;
			}
			Thread.sleep(pause);
			pause = Math.min(2 * pause, MAX_PAUSE_MILLIS);
		}
		return true;
	}

	/** Whether a thread closes the application context or calls {@link System#exit}. */
	public static boolean waitsForEnd(Thread thread) {
		return thread == Thread.currentThread()
				|| Arrays.stream(thread.getStackTrace()).anyMatch(RunningBodies::endsApplication);
	}

	private static boolean endsApplication(StackTraceElement frame) {
		return frame.getClassName().equals("java.lang.Shutdown") || (frame.getMethodName().equals("close")
				&& frame.getClassName().equals("org.springframework.context.support.AbstractApplicationContext"));
	}

}
