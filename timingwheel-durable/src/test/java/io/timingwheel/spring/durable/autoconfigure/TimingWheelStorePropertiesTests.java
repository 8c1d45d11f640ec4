package io.timingwheel.spring.durable.autoconfigure;

import java.time.Duration;
import java.util.stream.IntStream;

import io.timingwheel.spring.task.internal.Backoff;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TimingWheelStorePropertiesTests {

	@Test
	void theDefaultsGiveATaskMoreThanAnHour() {
		TimingWheelStoreProperties properties = new TimingWheelStoreProperties();
		TimingWheelStoreProperties.Backoff defaults = properties.getBackoff();
		Backoff withoutJitter = new Backoff(defaults.getInitial(), defaults.getMultiplier(), defaults.getMax(), 0);
		Duration sum = IntStream.range(1, properties.getMaxAttempts())
			.mapToObj(withoutJitter::after)
			.reduce(Duration.ZERO, Duration::plus);
		assertThat(sum).isEqualTo(Duration.ofSeconds(4023)).isGreaterThan(Duration.ofHours(1));
	}

}
