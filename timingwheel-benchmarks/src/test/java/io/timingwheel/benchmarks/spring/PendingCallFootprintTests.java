package io.timingwheel.benchmarks.spring;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PendingCallFootprintTests {

	@Test
	void aPendingCallRetainsSomething() {
		assertThat(PendingCallFootprint.measure(100_000)).isGreaterThan(40);
	}

}
