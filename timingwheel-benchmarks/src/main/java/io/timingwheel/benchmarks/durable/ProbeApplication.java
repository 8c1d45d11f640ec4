package io.timingwheel.benchmarks.durable;

import java.time.Instant;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * An application with a durable method.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ProbeApplication {

	static final String NAME = "probe";

	/** Makes the tasks transactional. */
	static final String TRANSACTIONAL = "probe.transactional";

	@Bean
	@ConditionalOnBooleanProperty(name = TRANSACTIONAL, havingValue = false, matchIfMissing = true)
	Tasks tasks(Probe probe) {
		return new Tasks(probe);
	}

	@Bean
	@ConditionalOnBooleanProperty(TRANSACTIONAL)
	TransactionalTasks transactionalTasks(Probe probe) {
		return new TransactionalTasks(probe);
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

	/**
	 * The durable method, with each run and its acknowledgement in one transaction.
	 */
	static class TransactionalTasks extends Tasks {

		TransactionalTasks(Probe probe) {
			super(probe);
		}

		@Override
		@Delayed(delayExpression = "#due", name = NAME, durable = true, transactional = true)
		public void probe(Instant due) {
			super.probe(due);
		}

	}

}
