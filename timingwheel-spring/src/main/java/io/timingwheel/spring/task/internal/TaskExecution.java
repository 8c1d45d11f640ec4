package io.timingwheel.spring.task.internal;

import java.lang.reflect.Method;

import io.timingwheel.spring.task.DelayedTaskContext;
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

	@FunctionalInterface
	interface Body {

		@Nullable Object run() throws Throwable;

	}

}
