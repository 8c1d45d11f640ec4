package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A slash in a name is refused wherever a name is given, since it separates the name of a
 * task from its key.
 */
class TaskNameTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class))
		.withPropertyValues("team=billing/");

	@ParameterizedTest
	@ValueSource(classes = { DelayedWithSlash.class, RecurringWithSlash.class, CancelWithSlash.class })
	void aSlashInANameStopsTheStart(Class<?> beanClass) {
		this.runner.withBean(beanClass)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("the name \"billing/close\"")
				.hasMessageContaining("slash")
				.hasMessageContaining("billing.close")
				.hasMessageContaining(beanClass.getSimpleName() + "#close"));
	}

	@Test
	void aBeanWhoseNameHasASlashNeedsANameForItsTasks() {
		this.runner.withBean("/orders", DelayedWithoutName.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("the name \"/orders.close\"")
				.hasMessageContaining("set a name without slashes"));
	}

	@Test
	void aSlashInThePropertyOfANameStopsTheStart() {
		this.runner.withPropertyValues("timingwheel.tasks.[billing/close].rate=5/s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("timingwheel.tasks.billing/close")
				.hasMessageContaining("slash"));
	}

	@Test
	void aSlashInANameOfTheTemplateIsRefused() {
		this.runner.run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			List<ThrowingCallable> calls = List.of(() -> TaskId.of("billing/close", 1),
					() -> new TaskId("billing/close", "1"), () -> tasks.task(() -> {
					}).name("billing/close"), () -> DurableCall.of("billing/close", Duration.ZERO, 1));
			calls.forEach((call) -> assertThatIllegalArgumentException().isThrownBy(call)
				.withMessageContaining("must not contain a slash")
				.withMessageContaining("billing.close"));
		});
	}

	static class DelayedWithSlash {

		@Delayed(delay = "1h", name = "${team}close")
		public void close() {
		}

	}

	static class DelayedWithoutName {

		@Delayed(delay = "1h")
		public void close() {
		}

	}

	static class RecurringWithSlash {

		@Recurring(every = "1h", name = "billing/close")
		public void close() {
		}

	}

	static class CancelWithSlash {

		@CancelDelayed(name = "billing/close", key = "#id")
		public void close(long id) {
		}

	}

}
