package io.timingwheel.spring.task.internal;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Puts several {@link TaskExecutionInterceptor interceptors} around each execution. Each
 * interceptor gets the object that it captured itself. Thread-safe if the interceptors
 * are.
 *
 * @since 0.1
 */
public final class CompositeTaskExecutionInterceptor implements TaskExecutionInterceptor {

	private final TaskExecutionInterceptor[] interceptors;

	private CompositeTaskExecutionInterceptor(List<TaskExecutionInterceptor> interceptors) {
		this.interceptors = interceptors.toArray(TaskExecutionInterceptor[]::new);
	}

	/**
	 * Composes interceptors.
	 * @param interceptors the interceptors, the outermost first
	 * @return an interceptor that calls all of them, {@code null} if the list is empty
	 */
	public static @Nullable TaskExecutionInterceptor of(List<TaskExecutionInterceptor> interceptors) {
		return switch (interceptors.size()) {
			case 0 -> null;
			case 1 -> interceptors.get(0);
			default -> new CompositeTaskExecutionInterceptor(interceptors);
		};
	}

	@Override
	public @Nullable Object capture(String name) {
		@Nullable Object @Nullable [] captured = null;
		for (int i = 0; i < this.interceptors.length; i++) {
			Object one = this.interceptors[i].capture(name);
			if (one != null) {
				captured = (captured != null) ? captured : new @Nullable Object[this.interceptors.length];
				captured[i] = one;
			}
		}
		return captured;
	}

	/**
	 * The trace that the outermost interceptor with a trace gives.
	 */
	@Override
	public @Nullable String traceparent() {
		for (TaskExecutionInterceptor interceptor : this.interceptors) {
			String traceparent = interceptor.traceparent();
			if (traceparent != null) {
				return traceparent;
			}
		}
		return null;
	}

	@Override
	public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured) throws Throwable {
		return intercept(0, execution, (captured != null) ? (@Nullable Object[]) captured : null);
	}

	private @Nullable Object intercept(int index, TaskExecution execution, @Nullable Object @Nullable [] captured)
			throws Throwable {
		if (index == this.interceptors.length) {
			return execution.proceed();
		}
		return this.interceptors[index].intercept(new Remainder(index + 1, execution, captured),
				(captured != null) ? captured[index] : null);
	}

	/**
	 * An execution whose {@link #proceed()} calls the inner interceptors and then the
	 * body.
	 */
	private final class Remainder implements TaskExecution {

		private final int next;

		private final TaskExecution execution;

		private final @Nullable Object @Nullable [] captured;

		Remainder(int next, TaskExecution execution, @Nullable Object @Nullable [] captured) {
			this.next = next;
			this.execution = execution;
			this.captured = captured;
		}

		@Override
		public @Nullable Object proceed() throws Throwable {
			return intercept(this.next, this.execution, this.captured);
		}

		@Override
		public @Nullable Method method() {
			return this.execution.method();
		}

		@Override
		public @Nullable String traceparent() {
			return this.execution.traceparent();
		}

		@Override
		public String name() {
			return this.execution.name();
		}

		@Override
		public String id() {
			return this.execution.id();
		}

		@Override
		public @Nullable TaskId taskId() {
			return this.execution.taskId();
		}

		@Override
		public Instant dueAt() {
			return this.execution.dueAt();
		}

		@Override
		public Duration lateness() {
			return this.execution.lateness();
		}

		@Override
		public int attempt() {
			return this.execution.attempt();
		}

		@Override
		public int deliveries() {
			return this.execution.deliveries();
		}

	}

}
