package io.timingwheel.sample.quotes;

import java.time.Duration;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
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

	/**
	 * Answers 504 if the quote takes too long, as timingwheel does for any uncaught
	 * timeout.
	 */
	@GetMapping("/quotes/{item}")
	Quote quote(@PathVariable String item,
			@RequestParam(defaultValue = "100ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration work)
			throws InterruptedException {
		return this.quotes.quote(item, check(work));
	}

	/** Answers with the last known quote if a new one takes too long. */
	@GetMapping("/quotes/{item}/latest")
	Quote latest(@PathVariable String item,
			@RequestParam(defaultValue = "100ms") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration work)
			throws InterruptedException {
		return this.quotes.latest(item, check(work));
	}

	private static Duration check(Duration work) {
		if (work.isNegative() || work.compareTo(MOST_WORK) > 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"work must be from 0s to %ds".formatted(MOST_WORK.toSeconds()));
		}
		return work;
	}

}
