package io.timingwheel.spring.autoconfigure;

import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.MessageSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/**
 * Answers an uncaught {@link MethodTimeoutException} of a controller with 504 and a
 * problem detail by RFC 9457, in Spring MVC and WebFlux. The detail does not name the
 * method. As with Spring's own exceptions, messages such as
 * {@code problemDetail.io.timingwheel.spring.annotation.MethodTimeoutException} replace
 * the texts. The handlers of the application come first, since their beans do.
 */
@ControllerAdvice
final class TimeoutAdvice {

	private static final Log logger = LogFactory.getLog(TimeoutAdvice.class);

	private final MessageSource messages;

	TimeoutAdvice(MessageSource messages) {
		this.messages = messages;
	}

	/**
	 * Answers a timeout, also one that a future has wrapped. Spring looks for the handler
	 * by all causes, but an exception of the application keeps its own status.
	 */
	@ExceptionHandler(MethodTimeoutException.class)
	ErrorResponse timedOut(Exception thrown, MethodTimeoutException timeout, Locale locale) throws Exception {
		if (thrown != timeout && !(thrown instanceof CompletionException || thrown instanceof ExecutionException)) {
			throw thrown;
		}
		logger.warn("Resolved [" + timeout + "]");
		logger.debug("The stack of the timeout", timeout);
		return ErrorResponse.builder(timeout, HttpStatus.GATEWAY_TIMEOUT, "The request took too long and was ended.")
			.header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE)
			.build(this.messages, locale);
	}

}
