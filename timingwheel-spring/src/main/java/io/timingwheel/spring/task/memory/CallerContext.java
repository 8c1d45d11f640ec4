package io.timingwheel.spring.task.memory;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskDecorator;

/**
 * Gives code that runs on another thread the context of the thread that asked for it: by
 * the {@link TaskDecorator} of the application, and the security context if the executor
 * of the application carries it. Thread-safe.
 *
 * @since 0.1
 */
public final class CallerContext {

	private final @Nullable TaskDecorator decorator;

	private final Supplier<? extends Executor> executor;

	/**
	 * Creates an instance.
	 * @param decorator the decorator of the application, {@code null} for none
	 * @param executor gives the executor that may carry the security context
	 */
	public CallerContext(@Nullable TaskDecorator decorator, Supplier<? extends Executor> executor) {
		this.decorator = decorator;
		this.executor = executor;
	}

	/**
	 * Captures the context of the current thread.
	 * @param code the code
	 * @param <T> the type of its result
	 * @return the code in this context
	 */
	public <T extends @Nullable Object> Callable<T> capture(Callable<T> code) {
		Object security = SecurityContextExecutors.find(this.executor);
		if (this.decorator == null && security == null) {
			return code;
		}
		ThreadLocal<@Nullable Runnable> running = new ThreadLocal<>();
		Runnable decorated = decorate(() -> run(running.get()), this.decorator, security);
		return () -> {
			FutureTask<T> task = new FutureTask<>(code);
			running.set(task);
			try {
				decorated.run();
			}
			finally {
				running.remove();
			}
			if (!task.isDone()) {
				throw new CancellationException("A TaskDecorator did not run the task");
			}
			return FutureCompletion.result(task);
		};
	}

	private static void run(@Nullable Runnable task) {
		if (task != null) {
			task.run();
		}
	}

	/**
	 * Decorates a task on the current thread.
	 */
	static Runnable decorate(Runnable task, @Nullable TaskDecorator decorator, @Nullable Object security) {
		Runnable decorated = (decorator != null) ? decorator.decorate(task) : task;
		return (security != null) ? SecurityContextExecutors.wrap(security, decorated) : decorated;
	}

}
