package io.timingwheel.spring.autoconfigure;

import java.util.List;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The switches are those of Spring Boot's conditions.
 */
@ExtendWith(OutputCaptureExtension.class)
class EnabledPropertyTests {

	@ParameterizedTest
	@ValueSource(strings = { "true", "TRUE" })
	void trueSwitchesOnAndOneLineNamesTheSettingsOfTheWheel(String value, CapturedOutput output) {
		try (ConfigurableApplicationContext context = run(Application.class, "timingwheel.enabled", value)) {
			assertThat(context.getBeansOfType(TimingWheel.class)).hasSize(1);
			context.stop();
			context.start();
		}
		assertThat(linesWith("Timing wheel runs", output)).singleElement()
			.asString()
			.contains("INFO")
			.endsWith("Timing wheel runs: tick 1ms, slots 64, shards 2, no store");
		assertThat(output).doesNotContain("timingwheel.enabled");
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "FALSE", "no" })
	void anyOtherValueSwitchesOffWithOneWarning(String value, CapturedOutput output) {
		try (ConfigurableApplicationContext context = run(Application.class, "timingwheel.enabled", value)) {
			assertThat(context.getBeansOfType(TimingWheel.class)).isEmpty();
		}
		assertThat(linesWith("timingwheel.enabled", output)).singleElement()
			.asString()
			.contains("WARN")
			.contains("methods with @Delayed, @CancelDelayed and @Timeout run at once");
		assertThat(linesWith("Timing wheel runs", output)).isEmpty();
	}

	@Test
	void theLineIsThereUnderLazyInitializationAndAChildContextAddsNone(CapturedOutput output) {
		try (ConfigurableApplicationContext parent = run(Application.class, "spring.main.lazy-initialization", "true");
				ConfigurableApplicationContext child = new SpringApplicationBuilder(Application.class).parent(parent)
					.web(WebApplicationType.NONE)
					.run()) {
			assertThat(child.getBean(TimingWheel.class)).isSameAs(parent.getBean(TimingWheel.class));
		}
		assertThat(linesWith("Timing wheel runs", output)).hasSize(1);
	}

	private static List<String> linesWith(String text, CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains(text)).toList();
	}

	@Test
	void anInvalidAnnotationIsNoErrorWhenSwitchedOff(CapturedOutput output) {
		run(Invalid.class, "timingwheel.enabled", "false").close();
		assertThat(output).contains("timingwheel.enabled is not true");
	}

	@ParameterizedTest
	@ValueSource(strings = { "run", "RUN" })
	void theExecutorIsCustomizedForEverySpellingOfRun(String value) {
		try (ConfigurableApplicationContext context = run(Application.class, "timingwheel.shutdown.pending", value)) {
			assertThat(context.containsBean("timingWheelTaskExecutorCustomizer")).isTrue();
		}
	}

	private static ConfigurableApplicationContext run(Class<?> source, String property, String value) {
		return new SpringApplicationBuilder(Application.class, source).web(WebApplicationType.NONE)
			.run("--" + property + "=" + value);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TaskSchedulingAutoConfiguration.class,
			ObservationAutoConfiguration.class, TimingWheelAutoConfiguration.class,
			TimingWheelDisabledAutoConfiguration.class, TimingWheelObservationAutoConfiguration.class,
			TimingWheelTaskSchedulerAutoConfiguration.class })
	static class Application {

		@Bean
		TimingWheelBuilderCustomizer settings() {
			return (builder) -> builder.wheelSize(64).shards(2);
		}

	}

	static class Invalid {

		@Delayed("banana")
		private void run() {
		}

	}

}
