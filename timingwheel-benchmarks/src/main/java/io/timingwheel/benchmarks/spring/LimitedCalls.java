package io.timingwheel.benchmarks.spring;

import io.timingwheel.spring.annotation.Timeout;

/** A method that does nothing, with and without a limit. */
class LimitedCalls {

	private int calls;

	@Timeout("1s")
	int limited() {
		return this.calls++;
	}

	int unlimited() {
		return this.calls++;
	}

}
