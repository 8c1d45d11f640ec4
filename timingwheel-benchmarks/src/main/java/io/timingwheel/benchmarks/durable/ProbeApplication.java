package io.timingwheel.benchmarks.durable;

import java.time.Instant;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTaskContext;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** An application with a durable method. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ProbeApplication {

	static final String NAME = "probe";

	static final String RECURRING = "recurring-probe";

	static final String LIMITED_NAME = "limited-probe";

	/** Adds a name whose starts are limited. */
	static final String LIMITED = "probe.limited";

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

	@Bean
	@ConditionalOnBooleanProperty(LIMITED)
	LimitedTasks limitedTasks() {
		return new LimitedTasks();
	}

	/**
	 * The durable methods. A task carries its due time in milliseconds, as the tasks of
	 * most other contestants do. An {@code Instant} would be stored as text, and to read
	 * that text keeps the compiler of a cold JVM busy.
	 */
	static class Tasks {

		static final String DUE = "T(java.time.Instant).ofEpochMilli(#due)";

		private final Probe probe;

		Tasks(Probe probe) {
			this.probe = probe;
		}

		@Delayed(delayExpression = DUE, name = NAME, durable = true)
		public void probe(long due) {
			this.probe.run(Instant.ofEpochMilli(due));
		}

		@Delayed(delay = "0s", name = RECURRING, durable = true)
		public void recurring() {
			this.probe.run(DelayedTaskContext.current().orElseThrow().dueAt());
		}

	}

	/** A durable method whose starts are limited. */
	static class LimitedTasks {

		@Delayed(delay = "0s", name = LIMITED_NAME, durable = true, policy = @TaskPolicy(rate = "100/s"))
		public void limited() {
		}

	}

	/** The durable method, with each run and its acknowledgement in one transaction. */
	static class TransactionalTasks extends Tasks {

		TransactionalTasks(Probe probe) {
			super(probe);
		}

		@Override
		@Delayed(delayExpression = DUE, name = NAME, durable = true, transactional = true)
		public void probe(long due) {
			super.probe(due);
		}

	}

}
