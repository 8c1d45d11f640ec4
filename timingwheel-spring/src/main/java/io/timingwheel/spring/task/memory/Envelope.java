package io.timingwheel.spring.task.memory;

import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import io.timingwheel.spring.task.internal.TaskExecution;
import org.jspecify.annotations.Nullable;

/**
 * A payload with the context of the thread that submitted it, and with the number of its
 * attempt. A plain call has none. A task has one run at a time, which uses its envelope.
 */
final class Envelope {

	final Object payload;

	/** The trace of the thread, {@code null} if there is none. */
	final @Nullable String trace;

	/** For {@link CallerContext#run}; {@code null} if there is none. */
	final @Nullable Runnable context;

	int attempt = 1;

	private Envelope(Object payload, @Nullable String trace, @Nullable Runnable context) {
		this.payload = payload;
		this.trace = trace;
		this.context = context;
	}

	/** Puts a payload into an envelope if there is a context to keep. */
	static Object seal(Object payload, TaskDefinition definition) {
		NamedTasks tasks = definition.tasks;
		TaskExecution.Interceptor interceptor = tasks.environment.interceptor();
		String trace = (interceptor != null) ? interceptor.traceparent() : null;
		// After shutdown the task is going to be rejected, and there may be no executor.
		Object security = tasks.shutdown().accepting ? SecurityContextExecutors.find(definition::executor) : null;
		Runnable context = CallerContext.capture(tasks.environment.decorator(), security);
		return (trace != null || context != null) ? new Envelope(payload, trace, context) : payload;
	}

	/** The envelope in what a pending task keeps, or one without a context. */
	static Envelope of(Object kept) {
		if (kept instanceof Repetition repetition) {
			return repetition.envelope;
		}
		Object payload = (kept instanceof Debounce debounce) ? debounce.payload() : kept;
		return (payload instanceof Envelope envelope) ? envelope : new Envelope(payload, null, null);
	}

	/**
	 * What a task keeps that was scheduled with a longest wait.
	 *
	 * @param payload the payload, perhaps in an envelope
	 * @param firstNanos when the first call came since the task last began, by the
	 * wheel's clock
	 */
	record Debounce(Object payload, long firstNanos) {

	}

}
