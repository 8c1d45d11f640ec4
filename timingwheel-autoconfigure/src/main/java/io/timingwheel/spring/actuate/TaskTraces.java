package io.timingwheel.spring.actuate;

import java.util.function.Supplier;

import io.micrometer.tracing.CurrentTraceContext;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;

/**
 * Lets the runs of tasks continue the traces in which the tasks were scheduled. A pending
 * task keeps the ids of the span only, and no baggage. Thread-safe.
 *
 * @since 0.1
 */
public final class TaskTraces {

	private final Supplier<? extends Tracer> tracer;

	/**
	 * Creates an instance.
	 * @param tracer gives the tracer; called at each use
	 */
	public TaskTraces(Supplier<? extends Tracer> tracer) {
		this.tracer = tracer;
	}

	/**
	 * Captures the trace of the current thread.
	 * @return the trace, {@code null} if there is none
	 */
	@Nullable Object capture() {
		TraceContext context = this.tracer.get().currentTraceContext().context();
		return (context != null) ? CapturedTrace.of(context) : null;
	}

	/**
	 * The trace of the current thread, as the W3C header {@code traceparent}.
	 * @return the text, {@code null} if there is no trace
	 */
	@Nullable String traceparent() {
		TraceContext context = this.tracer.get().currentTraceContext().context();
		CapturedTrace trace = (context != null) ? CapturedTrace.of(context) : null;
		return (trace != null) ? trace.traceparent() : null;
	}

	/**
	 * The tracer.
	 */
	Tracer tracer() {
		return this.tracer.get();
	}

	/**
	 * Runs an action within a captured trace.
	 */
	void within(@Nullable Object captured, Runnable action) {
		if (!(captured instanceof CapturedTrace trace)) {
			action.run();
			return;
		}
		Tracer tracer = this.tracer.get();
		TraceContext context = trace.restore(tracer.traceContextBuilder());
		CurrentTraceContext.Scope scope = tracer.currentTraceContext().newScope(context);
		try {
			action.run();
		}
		finally {
			scope.close();
		}
	}

}
