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

	/** What the thread runs next in a captured context. */
	private static final ThreadLocal<@Nullable Runnable> CODE = new ThreadLocal<>();

	private final @Nullable TaskDecorator decorator;

	private final Supplier<? extends Executor> executor;

	public CallerContext(@Nullable TaskDecorator decorator, Supplier<? extends Executor> executor) {
		this.decorator = decorator;
		this.executor = executor;
	}

	/** Gives code the context of the current thread. Several threads may call it. */
	public <T extends @Nullable Object> Callable<T> capture(Callable<T> code) {
		Runnable context = capture(this.decorator, SecurityContextExecutors.find(this.executor));
		return () -> {
			FutureTask<T> task = new FutureTask<>(code);
			run(context, task);
			if (!task.isDone()) {
				throw new CancellationException("A TaskDecorator did not run the task");
			}
			return FutureCompletion.result(task);
		};
	}

	/** Captures the context of the current thread, {@code null} if nothing carries it. */
	static @Nullable Runnable capture(@Nullable TaskDecorator decorator, @Nullable Object security) {
		Runnable code = () -> {
			Runnable next = CODE.get();
			if (next != null) {
				// What this code calls on this thread must not run it again.
				CODE.set(null);
				next.run();
			}
		};
		Runnable decorated = (decorator != null) ? decorator.decorate(code) : code;
		if (security != null) {
			return SecurityContextExecutors.wrap(security, decorated);
		}
		return (decorator != null) ? decorated : null;
	}

	static void run(@Nullable Runnable context, Runnable code) {
		if (context == null) {
			code.run();
			return;
		}
		Runnable outer = CODE.get();
		CODE.set(code);
		try {
			context.run();
		}
		finally {
			// The entry of the thread stays, with null.
			CODE.set(outer);
		}
	}

}
