package io.timingwheel.spring.task.internal;

import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class StartRateTests {

	@ParameterizedTest
	@CsvSource({ "100/s, 100, SECONDS, 10000000, 10", "20/m, 20, MINUTES, 3000000000, 1",
			"5000/h, 5000, HOURS, 720000000, 1", "3/s, 3, SECONDS, 333333334, 1", " 19 / s , 19, SECONDS, 52631579, 1",
			"86400/d, 86400, DAYS, 1000000000, 1", "72000/m, 72000, MINUTES, 833334, 120" })
	void readsARate(String text, long count, TimeUnit unit, long intervalNanos, long burst) {
		StartRate rate = StartRate.parse(text);
		assertThat(rate).isEqualTo(new StartRate(count, unit));
		assertThat(rate.intervalNanos()).isEqualTo(intervalNanos);
		assertThat(rate.burst()).isEqualTo(burst);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "100", "/s", "-1/s", "0/s", "1.5/s", "100/S", "100/sec", "9999999999/s" })
	void refusesWhatIsNoRate(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> StartRate.parse(text)).withMessageContaining(text);
	}

	@Test
	void printsWhatItReads() {
		assertThat(StartRate.parse("5000 / h")).hasToString("5000/h");
	}

}
