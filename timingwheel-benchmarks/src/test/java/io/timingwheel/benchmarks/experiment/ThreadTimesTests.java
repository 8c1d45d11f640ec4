package io.timingwheel.benchmarks.experiment;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ThreadTimesTests {

	private static final Path MAIN = Path.of("1");

	private static final Path COMPILER = Path.of("2");

	private static final Path WHEEL = Path.of("3");

	@Test
	void aThreadThatHasEndedTakesNothingFromTheTimeOfTheOthers() {
		ThreadTimes before = new ThreadTimes(Map.of(MAIN, 100L, COMPILER, 5_000_000L));
		ThreadTimes after = new ThreadTimes(Map.of(MAIN, 130L, WHEEL, 7L));

		assertThat(after.nanosSince(before)).isEqualTo(37);
	}

}
