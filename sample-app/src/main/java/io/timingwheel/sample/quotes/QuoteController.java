package io.timingwheel.sample.quotes;

import java.time.Duration;

import io.timingwheel.spring.annotation.MethodTimeoutException;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
class QuoteController {

	private static final Duration MOST_WORK = Duration.ofMinutes(1);

	private final QuoteService quotes;

	QuoteController(QuoteService quotes) {
		this.quotes = quotes;
	}

	@GetMapping("/quotes/{item}")
	Quote quote(@PathVariable String item,
			@RequestParam(defaultValue = "100ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration work)
			throws InterruptedException {
		if (work.isNegative() || work.compareTo(MOST_WORK) > 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"work must be from 0s to %ds".formatted(MOST_WORK.toSeconds()));
		}
		return this.quotes.quote(item, work);
	}

	@ExceptionHandler
	ProblemDetail timedOut(MethodTimeoutException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.GATEWAY_TIMEOUT, "The quote took too long and was cut.");
	}

}
