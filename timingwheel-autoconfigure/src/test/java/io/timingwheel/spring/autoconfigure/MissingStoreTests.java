package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * An application with the starter alone that asks for durable tasks. No module of durable
 * tasks is on the class path of these tests.
 */
class MissingStoreTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	@Test
	void aCallThatIsToBeStoredIsRefusedAndTheMessageNamesTheModulesToAdd() {
		this.runner.run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			assertThatIllegalStateException()
				.isThrownBy(() -> tasks.enqueue(TaskId.of("remind", 5), Duration.ofHours(1), 5))
				.withMessageContaining("io.timingwheel:timingwheel-jdbc")
				.withMessageContaining("io.timingwheel:timingwheel-redis");
			assertThatIllegalStateException()
				.isThrownBy(() -> tasks.recur(TaskId.of("remind", 5), Schedule.every(Duration.ofHours(1)), 5))
				.withMessageContaining("io.timingwheel:timingwheel-jdbc");
		});
	}

}
