package io.timingwheel.spring.actuate;

import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.micrometer.tracing.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * The ids of a span, in 40 bytes. A pending task keeps them rather than the span, which
 * may hold its request.
 */
final class CapturedTrace {

	private static final int HALF = 16;

	private static final HexFormat HEX = HexFormat.of();

	/** A version, the id of a trace, the id of a span, and flags. */
	private static final Pattern TRACEPARENT = Pattern
		.compile("(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})");

	private static final int SAMPLED = 1;

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
	 * Reads a W3C header {@code traceparent}.
	 * @return the context of its span, {@code null} if the text is not such a header
	 */
	static @Nullable TraceContext read(String traceparent, TraceContext.Builder builder) {
		Matcher matcher = TRACEPARENT.matcher(traceparent);
		if (!matcher.matches()) {
			return null;
		}
		boolean sampled = (HexFormat.fromHexDigits(matcher.group(3)) & SAMPLED) != 0;
		return builder.traceId(matcher.group(1)).spanId(matcher.group(2)).sampled(sampled).build();
	}

	/**
	 * The span as a W3C header {@code traceparent}.
	 * @return the text, {@code null} if the ids are not valid there
	 */
	@Nullable String traceparent() {
		if ((this.traceIdHigh | this.traceIdLow) == 0 || this.spanId == 0) {
			return null;
		}
		return "00-" + HEX.toHexDigits(this.traceIdHigh) + HEX.toHexDigits(this.traceIdLow) + "-"
				+ HEX.toHexDigits(this.spanId) + (Boolean.TRUE.equals(this.sampled) ? "-01" : "-00");
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
