package io.timingwheel.spring.task.internal;

import java.lang.reflect.Method;
import java.util.List;

import io.timingwheel.spring.task.DelayedTaskContext;
import org.jspecify.annotations.Nullable;

/** One run of a body, as an {@link Interceptor} sees it. */
public interface TaskExecution extends DelayedTaskContext {

	/** The annotated method, {@code null} for a task of the template. */
	@Nullable Method method();

	/** The trace in which a durable task was stored, as a W3C {@code traceparent}. */
	default @Nullable String linkedTrace() {
		return null;
	}

	/** The trace in which a task in memory was scheduled, and of which it is a part. */
	default @Nullable String parentTrace() {
		return null;
	}

	@FunctionalInterface
	interface Body {

		@Nullable Object run() throws Throwable;

	}

	/** Is called around every run of a delayed task. Implementations are thread-safe. */
	interface Interceptor {

		/**
		 * The trace of the thread that submits a task, which keeps it: a W3C {@code
		 * traceparent} of at most 55 characters.
		 */
		default @Nullable String traceparent() {
			return null;
		}

		/** Runs a body on the executor's thread, within any {@code TaskDecorator}. */
		@Nullable Object intercept(TaskExecution execution, Body body) throws Throwable;

		/** Composes interceptors, the outermost first; {@code null} for none. */
		static @Nullable Interceptor compose(List<Interceptor> interceptors) {
			return interceptors.stream().reduce(Both::new).orElse(null);
		}

		/** The trace is that of the outer one, if it gives any. */
		record Both(Interceptor outer, Interceptor inner) implements Interceptor {

			@Override
			public @Nullable String traceparent() {
				String traceparent = this.outer.traceparent();
				return (traceparent != null) ? traceparent : this.inner.traceparent();
			}

			@Override
			public @Nullable Object intercept(TaskExecution execution, Body body) throws Throwable {
				return this.outer.intercept(execution, () -> this.inner.intercept(execution, body));
			}

		}

	}

}
