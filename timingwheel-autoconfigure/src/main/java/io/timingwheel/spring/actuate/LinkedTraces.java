package io.timingwheel.spring.actuate;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.TracingObservationHandler;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;

/**
 * Begins a new trace for the execution of a durable task that was stored in a trace. The
 * new trace has a link to the span in which the task was stored. That span is not the
 * parent, since the task may run days later and several times. Takes the place of the
 * general tracing handler for these executions, and comes before it. Thread-safe.
 *
 * @since 0.1
 */
public final class LinkedTraces implements TracingObservationHandler<DelayedTaskObservationContext>, Ordered {

	private final TaskTraces traces;

	public LinkedTraces(TaskTraces traces) {
		this.traces = traces;
	}

	@Override
	public int getOrder() {
		return 0;
	}

	@Override
	public Tracer getTracer() {
		return this.traces.tracer();
	}

	@Override
	public boolean supportsContext(Observation.Context context) {
		return context instanceof DelayedTaskObservationContext execution && stored(execution) != null;
	}

	@Override
	public void onStart(DelayedTaskObservationContext context) {
		Span.Builder span = getTracer().spanBuilder().setNoParent();
		TraceContext stored = stored(context);
		if (stored != null) {
			span.addLink(new Link(stored));
		}
		getTracingContext(context).setSpan(span.start());
	}

	@Override
	public void onStop(DelayedTaskObservationContext context) {
		Span span = getRequiredSpan(context);
		span.name(getSpanName(context));
		tagSpan(context, span);
		endSpan(context, span);
	}

	/**
	 * The trace of the call. Each event of the observation asks for it.
	 */
	private @Nullable TraceContext stored(DelayedTaskObservationContext context) {
		String traceparent = context.getExecution().traceparent();
		if (traceparent == null) {
			return null;
		}
		TraceContext stored = context.get(LinkedTraces.class);
		if (stored == null) {
			stored = this.traces.read(traceparent);
			if (stored != null) {
				context.put(LinkedTraces.class, stored);
			}
		}
		return stored;
	}

}
