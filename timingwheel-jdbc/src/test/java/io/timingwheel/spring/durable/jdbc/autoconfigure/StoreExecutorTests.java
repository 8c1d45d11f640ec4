package io.timingwheel.spring.durable.jdbc.autoconfigure;

import io.timingwheel.spring.autoconfigure.TimingWheelTaskSchedulerAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class StoreExecutorTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
					TimingWheelAutoConfiguration.class, TimingWheelTaskSchedulerAutoConfiguration.class));

	@Test
	void bootsExecutorIsCustomizedOnceIfThereIsAStore() {
		this.contextRunner.withBean(MemoryStore.class)
			.withConfiguration(AutoConfigurations.of(TimingWheelStoreAutoConfiguration.class))
			.run((context) -> assertThat(context).hasSingleBean(ThreadPoolTaskExecutorCustomizer.class));
		this.contextRunner.withBean(MemoryStore.class)
			.withConfiguration(AutoConfigurations.of(TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.shutdown.pending=run")
			.run((context) -> assertThat(context).hasSingleBean(ThreadPoolTaskExecutorCustomizer.class));
	}

}
