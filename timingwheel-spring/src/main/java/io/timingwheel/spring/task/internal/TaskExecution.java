package io.timingwheel.spring.task.internal;

import java.lang.reflect.Method;

import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskContextHolder;
import org.jspecify.annotations.Nullable;

/**
 * One run of a body, as a {@link TaskExecutionInterceptor} sees it.
 */
public interface TaskExecution extends DelayedTaskContext {

	/** The annotated method, {@code null} for a task of the template. */
	@Nullable Method method();

	/** The trace in which a durable task was stored, as a W3C {@code traceparent}. */
	default @Nullable String traceparent() {
		return null;
	}

	/**
	 * Runs a body within the interceptor, with the execution as the thread's
	 * {@link DelayedTaskContext}.
	 */
	static @Nullable Object run(TaskExecution execution, Body body, @Nullable TaskExecutionInterceptor interceptor,
			@Nullable Object captured) throws Throwable {
		DelayedTaskContext outer = DelayedTaskContextHolder.get();
		DelayedTaskContextHolder.set(execution);
		try {
			return (interceptor != null) ? interceptor.intercept(execution, captured, body) : body.run();
		}
		finally {
			DelayedTaskContextHolder.set(outer);
		}
	}

	@FunctionalInterface
	interface Body {

		@Nullable Object run() throws Throwable;

	}

}
