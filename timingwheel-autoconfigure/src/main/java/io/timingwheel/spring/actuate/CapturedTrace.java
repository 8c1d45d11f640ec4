package io.timingwheel.spring.actuate;

import java.util.HexFormat;

import io.micrometer.tracing.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * The ids of a span, in 40 bytes. A pending task keeps them rather than the span, which
 * may hold its request.
 */
final class CapturedTrace {

	private static final int HALF = 16;

	private static final HexFormat HEX = HexFormat.of();

	private final long traceIdHigh;

	private final long traceIdLow;

	private final long spanId;

	/** Whether the id of the trace has 128 bits. */
	private final boolean wide;

	private final @Nullable Boolean sampled;

	private CapturedTrace(TraceContext context) {
		String traceId = context.traceId();
		this.wide = traceId.length() > HALF;
		this.traceIdHigh = this.wide ? parse(traceId, 0, traceId.length() - HALF) : 0;
		this.traceIdLow = parse(traceId, Math.max(0, traceId.length() - HALF), traceId.length());
		this.spanId = parse(context.spanId(), 0, context.spanId().length());
		this.sampled = context.sampled();
	}

	/**
	 * The ids of a span.
	 * @return the ids, {@code null} if the tracer does not use hexadecimal ids of at most
	 * 128 bits, or traces nothing
	 */
	static @Nullable CapturedTrace of(TraceContext context) {
		if (context.traceId().isEmpty()) {
			return null;
		}
		try {
			return new CapturedTrace(context);
		}
		catch (NumberFormatException ex) {
			return null;
		}
	}

	/**
	 * Builds the context of the span again.
	 */
	TraceContext restore(TraceContext.Builder builder) {
		return builder.traceId(traceId()).spanId(HEX.toHexDigits(this.spanId)).sampled(this.sampled).build();
	}

	private String traceId() {
		String low = HEX.toHexDigits(this.traceIdLow);
		return this.wide ? HEX.toHexDigits(this.traceIdHigh) + low : low;
	}

	private static long parse(String id, int begin, int end) {
		return Long.parseUnsignedLong(id, begin, end, 16);
	}

}
