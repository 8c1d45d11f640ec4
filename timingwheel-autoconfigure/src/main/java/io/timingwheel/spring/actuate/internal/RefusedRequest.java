package io.timingwheel.spring.actuate.internal;

import java.util.function.Function;
import java.util.function.Predicate;

import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

/** Ends a request with a status and a sentence. */
@SuppressWarnings("serial")
public final class RefusedRequest extends RuntimeException {

	private static final int CONFLICT = 409;

	private final int status;

	private RefusedRequest(int status, String sentence) {
		super(sentence);
		this.status = status;
	}

	public int status() {
		return this.status;
	}

	public static RefusedRequest invalid(String sentence) {
		return new RefusedRequest(WebEndpointResponse.STATUS_BAD_REQUEST, sentence);
	}

	static RefusedRequest notFound(String sentence) {
		return new RefusedRequest(WebEndpointResponse.STATUS_NOT_FOUND, sentence);
	}

	static RefusedRequest conflict(String sentence) {
		return new RefusedRequest(CONFLICT, sentence);
	}

	/** Reads a value, or refuses a text that gives none that is valid. */
	public static <T> T read(String text, Function<String, T> reader, Predicate<T> valid, String refusal) {
		try {
			T value = reader.apply(text);
			if (valid.test(value)) {
				return value;
			}
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			// The refusal names the remedy.
		}
		throw invalid(refusal);
	}

}
