package io.timingwheel.spring.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One line at the start says that the wheel runs.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartupMessageTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(TaskExecutionAutoConfiguration.class, JacksonAutoConfiguration.class, TimingWheelAutoConfiguration.class));

	@Test
	void theLineNamesTheSettingsOfTheWheel(CapturedOutput output) {
		this.runner.withPropertyValues("timingwheel.tick=10ms")
			.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.wheelSize(64).shards(2))
			.run((context) -> assertThat(messages(output)).singleElement()
				.asString()
				.contains("INFO")
				.endsWith("Timing wheel runs: tick 10ms, slots 64, shards 2, no store"));
	}

	@Test
	void theLineIsThereUnderLazyInitialization(CapturedOutput output) {
		this.runner
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(messages(output)).hasSize(1));
	}

	@Test
	void aRestartAndAChildContextAddNoLine(CapturedOutput output) {
		this.runner.run((parent) -> {
			parent.stop();
			parent.start();
			this.runner.withParent(parent).run((child) -> assertThat(messages(output)).hasSize(1));
		});
	}

	@Test
	void withoutAWheelThereIsNoLine(CapturedOutput output) {
		this.runner.withPropertyValues("timingwheel.enabled=false")
			.run((context) -> assertThat(messages(output)).isEmpty());
	}

	private static List<String> messages(CapturedOutput output) {
		return output.getAll().lines().filter((line) -> line.contains("Timing wheel runs")).toList();
	}

}
