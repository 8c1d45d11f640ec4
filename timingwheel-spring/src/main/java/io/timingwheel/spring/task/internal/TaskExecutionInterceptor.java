package io.timingwheel.spring.task.internal;

import io.timingwheel.spring.task.internal.TaskExecution.Body;
import org.jspecify.annotations.Nullable;

/**
 * Is called around every run of a delayed task, for instrumentation. Implementations are
 * thread-safe.
 *
 * @since 0.1
 */
public interface TaskExecutionInterceptor {

	/**
	 * Captures context on the thread that submits a task, before the task is scheduled.
	 * The task keeps the context in memory while it is pending; durable tasks capture
	 * none.
	 * @param name the name of the task
	 * @return the context for {@link #intercept}; {@code null} for none, which costs no
	 * memory
	 */
	default @Nullable Object capture(String name) {
		return null;
	}

	/**
	 * The trace of the calling thread, which is stored with a durable task.
	 * @return the trace as the W3C header {@code traceparent}, of at most 55 characters;
	 * {@code null} for none
	 * @see TaskExecution#traceparent()
	 */
	default @Nullable String traceparent() {
		return null;
	}

	/**
	 * Runs a task on the executor's thread. Any
	 * {@link org.springframework.core.task.TaskDecorator TaskDecorator} is outside this
	 * call.
	 * @param execution the run
	 * @param captured what {@link #capture} returned, {@code null} for nothing
	 * @param body to be run once, on this thread
	 * @return what the body returned
	 * @throws Throwable what the body threw
	 */
	@Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body) throws Throwable;

}
