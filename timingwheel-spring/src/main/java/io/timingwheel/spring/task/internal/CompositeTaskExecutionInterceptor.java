package io.timingwheel.spring.task.internal;

import java.util.List;

import io.timingwheel.spring.task.internal.TaskExecution.Body;
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
	public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body) throws Throwable {
		@Nullable Object[] each = (captured != null) ? (@Nullable Object[]) captured
				: new @Nullable Object[this.interceptors.length];
		Body next = body;
		for (int i = this.interceptors.length - 1; i >= 0; i--) {
			TaskExecutionInterceptor interceptor = this.interceptors[i];
			Object one = each[i];
			Body inner = next;
			next = () -> interceptor.intercept(execution, one, inner);
		}
		return next.run();
	}

}
