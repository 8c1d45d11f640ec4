package io.timingwheel.spring.actuate;

import io.micrometer.observation.Observation;
import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.TracingObservationHandler;

import org.springframework.core.Ordered;

/**
 * Begins a new trace for each run of a durable task that was stored in a trace, with a
 * link to the span of the call. That span is not the parent, since the task may run days
 * later and several times. The general tracing handler comes later. Thread-safe.
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
		return context instanceof DelayedTaskObservationContext task && task.getExecution().linkedTrace() != null;
	}

	@Override
	public void onStart(DelayedTaskObservationContext context) {
		Span.Builder span = getTracer().spanBuilder().setNoParent();
		TraceContext call = this.traces.read(context.getExecution().linkedTrace());
		if (call != null) {
			span.addLink(new Link(call));
		}
		getTracingContext(context).setSpan(span.start());
	}

	@Override
	public void onStop(DelayedTaskObservationContext context) {
		Span span = getRequiredSpan(context).name(getSpanName(context));
		tagSpan(context, span);
		endSpan(context, span);
	}

}
