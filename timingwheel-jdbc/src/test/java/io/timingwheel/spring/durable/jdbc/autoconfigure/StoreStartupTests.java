package io.timingwheel.spring.durable.jdbc.autoconfigure;

import java.util.List;

import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.autoconfigure.TimingWheelTaskSchedulerAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a store adds to the start.
 */
@ExtendWith(OutputCaptureExtension.class)
class StoreStartupTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
						JacksonAutoConfiguration.class, TimingWheelAutoConfiguration.class,
						TimingWheelTaskSchedulerAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
		.withBean(MemoryStore.class);

	@Test
	void theLineThatSaysThatTheWheelRunsNamesTheStore(CapturedOutput output) {
		this.runner.withPropertyValues("timingwheel.tick=100us")
			.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.shards(1))
			.run((context) -> assertThat(messages(output)).singleElement()
				.asString()
				.endsWith("tick 100us, slots 256, shards 1, store MemoryStore"));
	}

	private static List<String> messages(CapturedOutput output) {
		return output.getAll().lines().filter((line) -> line.contains("Timing wheel runs")).toList();
	}

	@ParameterizedTest
	@ValueSource(strings = { "cancel", "run" })
	void bootsExecutorIsCustomizedOnce(String pending) {
		this.runner.withPropertyValues("timingwheel.shutdown.pending=" + pending)
			.run((context) -> assertThat(context).hasSingleBean(ThreadPoolTaskExecutorCustomizer.class));
	}

}
