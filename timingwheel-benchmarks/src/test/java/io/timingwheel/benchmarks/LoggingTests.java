package io.timingwheel.benchmarks;

import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

class LoggingTests {

	@Test
	void noContestantWritesALog() {
		assertThat(LoggerFactory.getILoggerFactory()).isInstanceOf(NOPLoggerFactory.class);
	}

}
