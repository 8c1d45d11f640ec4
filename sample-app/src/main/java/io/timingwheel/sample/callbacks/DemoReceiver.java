package io.timingwheel.sample.callbacks;

import java.util.HashSet;
import java.util.Set;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Receives the callbacks of the page. It refuses each fifth callback at first, so that
 * the page shows an attempt that follows a failure.
 */
@RestController
@RequestMapping("/callbacks/demo")
class DemoReceiver {

	private static final int REFUSED_OF = 5;

	/** The keys of the callbacks that were refused, until they come again. */
	private final Set<String> refused = new HashSet<>();

	private int received;

	private int refusals;

	@PostMapping
	synchronized ResponseEntity<Void> receive(@RequestHeader("Idempotency-Key") String key) {
		if (!this.refused.remove(key) && (this.received + this.refused.size()) % REFUSED_OF == REFUSED_OF - 1) {
			this.refused.add(key);
			this.refusals++;
			return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).build();
		}
		this.received++;
		return ResponseEntity.noContent().build();
	}

	@GetMapping
	synchronized Figures figures() {
		return new Figures(this.received, this.refusals);
	}

	/**
	 * What has come.
	 *
	 * @param received how many callbacks were accepted
	 * @param refused how many requests were refused
	 */
	record Figures(int received, int refused) {
	}

}
