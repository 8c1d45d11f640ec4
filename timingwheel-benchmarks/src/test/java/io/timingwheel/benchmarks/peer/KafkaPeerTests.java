package io.timingwheel.benchmarks.peer;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class KafkaPeerTests {

	@Test
	void aDelayIsRoundedUpSoThatRoundingMakesNoTimerEarly() {
		assertThat(KafkaPeer.wholeMillis(1)).isEqualTo(1);
		assertThat(KafkaPeer.wholeMillis(1_000_000)).isEqualTo(1);
		assertThat(KafkaPeer.wholeMillis(1_000_001)).isEqualTo(2);
		assertThat(KafkaPeer.wholeMillis(-1)).isZero();
	}

}
