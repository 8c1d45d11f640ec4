package io.timingwheel.spring.autoconfigure;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests of the messages that a user reads when the application does not start.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartupFailureTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			timingwheel.tick                               | 0    | PT0S: 1 ms suits most
			timingwheel.tick                               | 25h  | at most one day
			timingwheel.max-pending                        | 0    | leave it unset for no limit
			timingwheel.shutdown.await-termination-period  | -1s  | must not be negative: use 0s for no wait
			timingwheel.health.max-lag                     | 0    | must be positive, such as 1s
			timingwheel.timeout.limits.quotes.quote        | 0    | must be positive, such as 800ms
			timingwheel.timeout.limits.quotes.quote        | soon | "soon" is not a duration such as 500ms
			""")
	void aValueThatMakesNoSenseIsNamedWithItsPropertyItsOriginAndARemedy(String property, String value, String remedy,
			CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(Empty.class, "--" + property + "=" + value));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid value '%s' for configuration property '%s'".formatted(value, property))
			.contains("commandLineArgs")
			.contains(remedy)
			.doesNotContain("\tat ");
	}

	@ParameterizedTest
	@CsvSource({ "timingwheel.tick, banana, java.time.Duration", "timingwheel.max-pending, banana, java.lang.Long",
			"timingwheel.shutdown.pending, banana, Pending", "timingwheel.timeout.order, banana, java.lang.Integer",
			"timingwheel.task-scheduler.enabled, banana, boolean",
			"timingwheel.timeout.problem-details, banana, boolean", "timingwheel.store.type, banana, StoreType" })
	void aValueOfTheWrongTypeIsNamedWithItsProperty(String property, String value, String type, CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(Empty.class, "--" + property + "=" + value));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.containsPattern("Failed to bind properties under '%s' to .*%s".formatted(property, type))
			.contains("Value: \"banana\"")
			.doesNotContain("\tat ");
	}

	@Test
	void aValueUnderAnotherSpellingIsNamedByItsProperty(CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(Empty.class, "--timingwheel.maxPending=0"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Invalid value '0' for configuration property 'timingwheel.max-pending'")
			.contains("leave it unset for no limit");
	}

	@Test
	void aWrongPeriodIsRefusedAlsoForAWheelOfTheApplication(CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(OwnWheel.class, "--timingwheel.health.max-lag=0"));
		assertThat(output).contains("'timingwheel.health.max-lag'").contains("must be positive, such as 1s");
	}

	@Test
	void aDelayThatIsNotADurationIsNamedWithItsMethod(CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(BananaDelay.class));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(BananaDelay.class.getName() + "#close(long)")
			.contains("\"banana\" is not a duration")
			.contains("Set a delay such as 30s, 10m or PT1H.")
			.doesNotContain("\tat ");
	}

	@Test
	void aDelayFromAPropertyThatIsNotADurationIsNamedWithTheProperty(CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(DelayFromProperty.class, "--orders.payment-window=banana"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(DelayFromProperty.class.getName() + "#close(long)")
			.contains("${orders.payment-window:30m}")
			.contains("banana")
			.doesNotContain("\tat ");
	}

	@Test
	void aPrivateMethodIsNamedWithARemedy(CapturedOutput output) {
		assertThatException().isThrownBy(() -> run(PrivateMethod.class));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(PrivateMethod.class.getName() + "#close(long)")
			.contains("@Delayed is on a private method")
			.contains("Make the method public, protected or package-private.")
			.doesNotContain("\tat ");
	}

	private static void run(Class<?> source, String... arguments) {
		new SpringApplicationBuilder(source).web(WebApplicationType.NONE).run(arguments).close();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	static class Empty {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
	static class OwnWheel {

		@Bean
		TimingWheel wheel() {
			return TimingWheel.builder(Runnable::run).timeSource(new ManualTimeSource()).build();
		}

	}

	static class BananaDelay extends Empty {

		@Delayed("banana")
		void close(long orderId) {
		}

	}

	static class DelayFromProperty extends Empty {

		@Delayed("${orders.payment-window:30m}")
		void close(long orderId) {
		}

	}

	static class PrivateMethod extends Empty {

		@Delayed("30m")
		private void close(long orderId) {
		}

	}

}
