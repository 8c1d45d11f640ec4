package io.timingwheel.spring.task.internal;

import java.lang.reflect.Method;

import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskContextHolder;
import org.jspecify.annotations.Nullable;

/**
 * One run of a body, as a {@link TaskExecutionInterceptor} sees it.
 */
public interface TaskExecution extends DelayedTaskContext {

	/**
	 * The annotated method whose body runs.
	 * @return the method, {@code null} for a task of the template
	 */
	@Nullable Method method();

	/**
	 * The trace in which a durable task was stored, as the W3C header
	 * {@code traceparent}.
	 * @return the text; {@code null} if there was no trace, and for a task in memory
	 */
	default @Nullable String traceparent() {
		return null;
	}

	/**
	 * Runs the body of an execution on the current thread, within the interceptor. While
	 * it runs, the execution is the thread's {@link DelayedTaskContext}.
	 * @param interceptor is called around the body, {@code null} for none
	 * @throws Throwable what the body threw
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
