package io.timingwheel.spring.task.internal;

import java.util.List;

import io.timingwheel.spring.task.internal.TaskExecution.Body;
import org.jspecify.annotations.Nullable;

/**
 * Is called around every run of a delayed task, for instrumentation. Implementations are
 * thread-safe.
 */
public interface TaskExecutionInterceptor {

	/**
	 * Captures context on the thread that submits a task, before the task is scheduled.
	 * The task keeps the context in memory while it is pending; durable tasks capture
	 * none.
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
	 * @param captured what {@link #capture} returned, {@code null} for nothing
	 * @throws Throwable what the body threw
	 */
	@Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body) throws Throwable;

	/**
	 * Composes interceptors.
	 * @param interceptors the interceptors, the outermost first
	 * @return an interceptor that calls all of them, {@code null} for none
	 */
	static @Nullable TaskExecutionInterceptor compose(List<TaskExecutionInterceptor> interceptors) {
		return interceptors.stream().reduce(Both::new).orElse(null);
	}

	/**
	 * Two interceptors around each execution, each with the object that it captured
	 * itself. The trace is that of the outer one, if it gives any.
	 */
	record Both(TaskExecutionInterceptor outer, TaskExecutionInterceptor inner) implements TaskExecutionInterceptor {

		@Override
		public @Nullable Object capture(String name) {
			Object outer = this.outer.capture(name);
			Object inner = this.inner.capture(name);
			return (outer != null || inner != null) ? new Captured(outer, inner) : null;
		}

		@Override
		public @Nullable String traceparent() {
			String traceparent = this.outer.traceparent();
			return (traceparent != null) ? traceparent : this.inner.traceparent();
		}

		@Override
		public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body)
				throws Throwable {
			Captured both = (captured != null) ? (Captured) captured : new Captured(null, null);
			return this.outer.intercept(execution, both.outer(),
					() -> this.inner.intercept(execution, both.inner(), body));
		}

		private record Captured(@Nullable Object outer, @Nullable Object inner) {

		}

	}

}
