package io.timingwheel.sample;

import java.time.Duration;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.method.annotation.MethodArgumentTypeMismatchException;

/** The errors that all controllers have in common, before Spring's own answers. */
@RestControllerAdvice
@Order(Ordered.HIGHEST_PRECEDENCE)
class ErrorResponses {

	@ExceptionHandler
	ProblemDetail unreadable(MethodArgumentTypeMismatchException ex) {
		String expected = (ex.getRequiredType() == Duration.class) ? "a duration such as 500ms or 2s"
				: "a whole number";
		return ProblemDetail.forStatusAndDetail(HttpStatus.BAD_REQUEST,
				"%s must be %s, not '%s'".formatted(ex.getName(), expected, ex.getValue()));
	}

	/**
	 * {@code timingwheel.max-pending} is reached, or the application is shutting down.
	 */
	@ExceptionHandler
	ProblemDetail rejected(TaskRejectedException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE,
				"No more tasks can be scheduled at the moment. Try again later.");
	}

}
