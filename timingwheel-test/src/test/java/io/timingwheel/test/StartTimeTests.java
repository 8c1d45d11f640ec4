package io.timingwheel.test;

import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class StartTimeTests {

	private static final int STARTS = 15;

	private final ApplicationContextRunner real = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class));

	private final ApplicationContextRunner virtual = this.real
		.withConfiguration(AutoConfigurations.of(VirtualTimeAutoConfiguration.class));

	@Test
	void aContextWithVirtualTimeStartsAboutAsFastAsOneWithout() {
		shortest(this.real);
		shortest(this.virtual);
		long real = shortest(this.real);
		long virtual = shortest(this.virtual);
		System.out.println("Start and stop of a context: %d us, with virtual time %d us".formatted(real, virtual));
		assertThat(virtual).isLessThan(3 * real);
	}

	/**
	 * How long the start and the stop of a context take at least, in microseconds. Other
	 * work on the machine delays some of the starts.
	 */
	private static long shortest(ApplicationContextRunner runner) {
		return LongStream.range(0, STARTS).map((i) -> {
			long start = System.nanoTime();
			runner.run((context) -> assertThat(context).hasNotFailed());
			return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start);
		}).min().orElseThrow();
	}

}
