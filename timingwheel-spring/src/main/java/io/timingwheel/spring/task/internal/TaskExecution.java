package io.timingwheel.spring.task.internal;

import java.lang.reflect.Method;
import java.util.List;

import io.timingwheel.spring.task.DelayedTaskContext;
import org.jspecify.annotations.Nullable;

/**
 * One run of a body, as an {@link Interceptor} sees it.
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

	/**
	 * Is called around every run of a delayed task. Implementations are thread-safe.
	 */
	interface Interceptor {

		/**
		 * Captures context on the thread that submits a task in memory, which keeps it.
		 */
		default @Nullable Object capture(String name) {
			return null;
		}

		/**
		 * The trace of the calling thread, stored with a durable task: a W3C {@code
		 * traceparent} of at most 55 characters.
		 */
		default @Nullable String traceparent() {
			return null;
		}

		/**
		 * Runs a body on the executor's thread, within any {@code TaskDecorator}.
		 * @param captured what {@link #capture} returned
		 */
		@Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body) throws Throwable;

		/** Composes interceptors, the outermost first; {@code null} for none. */
		static @Nullable Interceptor compose(List<Interceptor> interceptors) {
			return interceptors.stream().reduce(Both::new).orElse(null);
		}

		/**
		 * Two interceptors around each execution, each with the object that it captured
		 * itself. The trace is that of the outer one, if it gives any.
		 */
		record Both(Interceptor outer, Interceptor inner) implements Interceptor {

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

}
