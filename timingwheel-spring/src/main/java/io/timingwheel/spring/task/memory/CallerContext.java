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
 * carries it. Thread-safe.
 */
public final class CallerContext {

	private final @Nullable TaskDecorator decorator;

	private final Supplier<? extends Executor> executor;

	public CallerContext(@Nullable TaskDecorator decorator, Supplier<? extends Executor> executor) {
		this.decorator = decorator;
		this.executor = executor;
	}

	/** Captures the context of the current thread. */
	public <T extends @Nullable Object> Callable<T> capture(Callable<T> code) {
		Object security = SecurityContextExecutors.find(this.executor);
		if (this.decorator == null && security == null) {
			return code;
		}
		ThreadLocal<FutureTask<T>> call = ThreadLocal.withInitial(() -> new FutureTask<>(code));
		Runnable decorated = decorate(() -> call.get().run(), this.decorator, security);
		return () -> {
			try {
				decorated.run();
				FutureTask<T> task = call.get();
				if (!task.isDone()) {
					throw new CancellationException("A TaskDecorator did not run the task");
				}
				return FutureCompletion.result(task);
			}
			finally {
				call.remove();
			}
		};
	}

	static Runnable decorate(Runnable task, @Nullable TaskDecorator decorator, @Nullable Object security) {
		Runnable decorated = (decorator != null) ? decorator.decorate(task) : task;
		return (security != null) ? SecurityContextExecutors.wrap(security, decorated) : decorated;
	}

}
