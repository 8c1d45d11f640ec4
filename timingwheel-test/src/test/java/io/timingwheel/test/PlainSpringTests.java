package io.timingwheel.test;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test of Spring without Boot's annotations.
 */
@SpringJUnitConfig
@AutoConfigureVirtualTime
class PlainSpringTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private Jobs.InMemory jobs;

	@Autowired
	private Runs runs;

	@Test
	void theAnnotationBringsTheAutoConfiguration() {
		this.jobs.run("a", Duration.ofMinutes(5));
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.runs.names()).containsExactly("a");
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Runs.class, Jobs.InMemory.class })
	static class Config {

	}

}
