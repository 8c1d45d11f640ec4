package io.timingwheel.spring.autoconfigure;

import java.util.List;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.support.Approved;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Tests that nobody changes what a user reads when the application does not start without
 * saying so.
 */
class StartFailureApprovalTests {

	private static final String METHODS = "io.timingwheel.spring.aop.delayed.";

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	private final StartFailureLines failures = new StartFailureLines();

	/**
	 * The methods are those that the other tests of start failures have.
	 */
	@Test
	void theTextsAboutMethodsAreTheApprovedOnes() {
		this.failures.tryAll(this.runner, METHODS + "DelayedStartupFailureTests");
		this.failures.tryAll(this.runner, METHODS + "RecurringStartupFailureTests");
		this.failures.tryAll(this.runner, TimeoutStartupFailureTests.class.getName());
		this.failures.fail("a durable method without a store", this.runner, Durable.class);
		Approved.verify(getClass(), "start-failures-methods", this.failures.lines());
	}

	@Test
	void theTextsAboutPropertiesAreTheApprovedOnes() {
		for (String property : List.of("timingwheel.tick=0", "timingwheel.tick=25h", "timingwheel.max-pending=0",
				"timingwheel.shutdown.pending=banana", "timingwheel.shutdown.await-termination-period=-1s",
				"timingwheel.health.max-lag=0", "timingwheel.timeout.limits.quotes.quote=0",
				"timingwheel.timeout.limits.quotes.quote=soon", "timingwheel.store.type=banana",
				"timingwheel.store.type=jdbc", "timingwheel.store.type=redis")) {
			this.failures.fail(property, this.runner.withPropertyValues(property));
		}
		Approved.verify(getClass(), "start-failures-properties", this.failures.lines());
	}

	static class Durable {

		@Delayed(delay = "1h", name = "durable", durable = true)
		void remind(long userId) {
		}

	}

}
