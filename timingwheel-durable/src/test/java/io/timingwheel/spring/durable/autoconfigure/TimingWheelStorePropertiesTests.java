package io.timingwheel.spring.durable.autoconfigure;

import java.time.Duration;
import java.util.stream.IntStream;

import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

class TimingWheelStorePropertiesTests {

	@Test
	void theDefaultsGiveATaskMoreThanAnHour() {
		TimingWheelStoreProperties properties = new Binder(new MapConfigurationPropertySource())
			.bindOrCreate("timingwheel.store", TimingWheelStoreProperties.class);
		TimingWheelStoreProperties.Backoff defaults = properties.backoff();
		BackoffSettings withoutJitter = new BackoffSettings(defaults.initial(), defaults.multiplier(), defaults.max(),
				0.0);
		Duration sum = IntStream.range(1, properties.maxAttempts())
			.mapToObj(withoutJitter::after)
			.reduce(Duration.ZERO, Duration::plus);
		assertThat(sum).isEqualTo(Duration.ofSeconds(4023)).isGreaterThan(Duration.ofHours(1));
	}

}
