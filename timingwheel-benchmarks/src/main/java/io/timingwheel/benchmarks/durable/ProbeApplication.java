package io.timingwheel.benchmarks.durable;

import java.time.Instant;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An application with a durable method.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ProbeApplication {

	static final String NAME = "probe";

	@Bean
	Tasks tasks(Probe probe) {
		return new Tasks(probe);
	}

	/**
	 * The durable method.
	 */
	static class Tasks {

		private final Probe probe;

		Tasks(Probe probe) {
			this.probe = probe;
		}

		@Delayed(delayExpression = "#due", name = NAME, durable = true)
		public void probe(Instant due) {
			this.probe.run(due);
		}

	}

}
