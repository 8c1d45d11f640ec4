package io.timingwheel.benchmarks;

import java.util.ServiceLoader;

import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;
import org.slf4j.spi.SLF4JServiceProvider;

import static org.assertj.core.api.Assertions.assertThat;

class LoggingTests {

	@Test
	void noContestantWritesALog() {
		assertThat(LoggerFactory.getILoggerFactory()).isInstanceOf(NOPLoggerFactory.class);
		assertThat(ServiceLoader.load(SLF4JServiceProvider.class)).hasSize(1);
	}

}
