package io.timingwheel.spring.docs;

import io.timingwheel.spring.annotation.Timeout;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * A class with a limit, as {@code docs/timeout.md} shows it.
 */
// tag::type[]
@Timeout("2s")
@RestController
class OrderController {

	@Timeout("30s")
	@GetMapping("/report")
	public String report() {
		return "all orders";
	}

}
// end::type[]
