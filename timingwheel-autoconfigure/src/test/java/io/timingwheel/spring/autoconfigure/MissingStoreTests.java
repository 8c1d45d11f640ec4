package io.timingwheel.spring.autoconfigure;

import java.time.Duration;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * An application with the starter alone that asks for durable tasks. No module of durable
 * tasks is on the class path of these tests.
 */
class MissingStoreTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(classes = { Durable.class, DurableRecurring.class })
	<T> void aDurableMethodStopsTheStartAndTheMessageNamesTheModulesToAdd(Class<T> bean) {
		this.runner.withBean(bean).run((context) -> {
			assertThat(context).hasFailed();
			FailureAnalysis analysis = StartFailures.analyze(context.getStartupFailure());
			assertThat(analysis.getDescription()).contains(bean.getName())
				.contains("is durable, but there is no store to keep its tasks in");
			assertThat(analysis.getAction()).contains("Add the dependency io.timingwheel:timingwheel-jdbc or"
					+ " io.timingwheel:timingwheel-redis and set timingwheel.store.type to jdbc or redis");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "redis" })
	void theTypeOfAStoreStopsTheStartAndTheMessageNamesTheModuleToAdd(String type) {
		this.runner.withPropertyValues("timingwheel.store.type=" + type)
			.run((context) -> assertThat(StartFailures.ofStore(context).getAction())
				.isEqualTo("Add the dependency io.timingwheel:timingwheel-" + type + "."));
	}

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

	static class Durable {

		@Delayed(delay = "1h", durable = true)
		void remind(long userId) {
		}

	}

	static class DurableRecurring {

		@Recurring(every = "1h", durable = true)
		void report() {
		}

	}

}
