package io.timingwheel.spring.actuate;

import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.tracing.CurrentTraceContext;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;

/**
 * Lets the runs of tasks continue the traces in which the tasks were scheduled. A task
 * keeps the text of the W3C header {@code traceparent}, in memory and stored, and no
 * baggage. A span whose sampling is not decided counts as one that is not sampled.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class TaskTraces {

	/** A version, the id of a trace, the id of a span, and flags. */
	private static final Pattern TRACEPARENT = Pattern
		.compile("(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])");

	private final Supplier<? extends Tracer> tracer;

	/** Asks for the tracer at each use. */
	public TaskTraces(Supplier<? extends Tracer> tracer) {
		this.tracer = tracer;
	}

	Tracer tracer() {
		return this.tracer.get();
	}

	/**
	 * The trace of the current thread, {@code null} if there is none or its ids are not
	 * those of a {@code traceparent}.
	 */
	@Nullable String traceparent() {
		TraceContext context = tracer().currentTraceContext().context();
		if (context == null || context.traceId().isEmpty()) {
			return null;
		}
		String text = "00-" + padded(context.traceId(), 32) + "-" + padded(context.spanId(), 16)
				+ (Boolean.TRUE.equals(context.sampled()) ? "-01" : "-00");
		return TRACEPARENT.matcher(text).matches() ? text : null;
	}

	private static String padded(String id, int length) {
		return "0".repeat(Math.max(0, length - id.length())) + id;
	}

	/** The span of a {@code traceparent}, {@code null} for anything else. */
	@Nullable TraceContext read(@Nullable String traceparent) {
		Matcher matcher = TRACEPARENT.matcher((traceparent != null) ? traceparent : "");
		if (!matcher.matches()) {
			return null;
		}
		boolean sampled = (Character.digit(matcher.group(3).charAt(0), 16) & 1) != 0;
		return tracer().traceContextBuilder()
			.traceId(matcher.group(1))
			.spanId(matcher.group(2))
			.sampled(sampled)
			.build();
	}

	void within(@Nullable String traceparent, Runnable action) {
		TraceContext context = read(traceparent);
		if (context == null) {
			action.run();
			return;
		}
		CurrentTraceContext.Scope scope = tracer().currentTraceContext().newScope(context);
		try {
			action.run();
		}
		finally {
			scope.close();
		}
	}

}
