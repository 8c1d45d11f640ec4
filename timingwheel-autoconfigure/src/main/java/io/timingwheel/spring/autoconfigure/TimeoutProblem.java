package io.timingwheel.spring.autoconfigure;

import java.net.URI;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.jspecify.annotations.Nullable;

import org.springframework.context.MessageSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.ErrorResponse;

/**
 * The response to a request that ended with a timeout: 504, with a problem detail by RFC
 * 9457. The detail does not name the method. As with Spring's own exceptions, messages
 * such as {@code problemDetail.io.timingwheel.spring.annotation.MethodTimeoutException}
 * replace the texts.
 */
final class TimeoutProblem {

	private TimeoutProblem() {
	}

	/**
	 * Returns the timeout in an exception.
	 * @param failure the exception of a request
	 * @return the exception itself or the one that a future wrapped, {@code null} if that
	 * is no timeout
	 */
	static @Nullable MethodTimeoutException timeout(Throwable failure) {
		Throwable result = failure;
		while ((result instanceof CompletionException || result instanceof ExecutionException)
				&& result.getCause() != null) {
			result = result.getCause();
		}
		return (result instanceof MethodTimeoutException timeout) ? timeout : null;
	}

	static ErrorResponse response(MethodTimeoutException timeout, String path, MessageSource messages, Locale locale) {
		return ErrorResponse.builder(timeout, HttpStatus.GATEWAY_TIMEOUT, "The request took too long and was ended.")
			.instance(URI.create(path))
			.header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE)
			.build(messages, locale);
	}

}
