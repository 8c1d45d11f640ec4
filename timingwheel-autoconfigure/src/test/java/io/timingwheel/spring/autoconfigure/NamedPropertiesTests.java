package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.Map;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Properties by the names of tasks and of methods with a limit. */
@ExtendWith(OutputCaptureExtension.class)
class NamedPropertiesTests {

	private static final String LIMITS = "timingwheel.timeout.limits.";

	private static final String TASKS = "timingwheel.tasks.";

	private final MockEnvironment environment = new MockEnvironment();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class));

	@Test
	void theAnnotationSetsThePolicyWithPlaceholdersAndPropertiesOverrideItsValues() {
		ApplicationContextRunner callbacks = this.runner.withPropertyValues("app.rate=7/m", "app.max=30s")
			.withBean(Callbacks.class);
		callbacks.run((context) -> assertThat(policy(context, "callback")).isEqualTo(
				new PolicySettings(5, new BackoffSettings(Duration.ofSeconds(2), 3.0, Duration.ofSeconds(30), 0.0), 10,
						1, StartRate.parse("7/m"), null)));
		callbacks
			.withPropertyValues("timingwheel.tasks.callback.max-concurrent=3",
					"timingwheel.tasks.callback.backoff.initial=1s", "timingwheel.tasks.callback.paused=true")
			.run((context) -> assertThat(policy(context, "callback")).isEqualTo(
					new PolicySettings(5, new BackoffSettings(Duration.ofSeconds(1), 3.0, Duration.ofSeconds(30), 0.0),
							3, 1, StartRate.parse("7/m"), true)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "[orders.close.order]", "orders-close-ORDER" })
	void theNameOfATaskMayHoldDotsInBracketsAndIsRelaxed(String name) {
		this.environment.setProperty(TASKS + name + ".max-concurrent-per-key", "2");
		this.environment.setProperty(TASKS + name + ".backoff.max", "20s");
		PolicySettings policy = new TaskPolicyProperties(this.environment).of("orders.close.order");
		assertThat(policy.maxConcurrentPerKey()).isEqualTo(2);
		assertThat(policy.backoff().max()).hasSeconds(20);
	}

	@ParameterizedTest
	@ValueSource(strings = { "the.quote-service_1.byArgument", "[the.quoteService1].byArgument",
			"THE.QUOTESERVICE1.BYARGUMENT", "the.quote-service1.by-argument" })
	void theNameOfAMethodWithALimitIsRelaxed(String name) {
		this.environment.setProperty(LIMITS + name, "50ms");
		assertThat(new TimeoutLimitProperties(this.environment).find("the.quoteService1", "byArgument")).hasMillis(50);
	}

	@ParameterizedTest
	@ValueSource(strings = { "other", LIMITS + "first.byArgument", LIMITS + "first.by-argument" })
	void anEnvironmentVariableComesBeforeAProperty(String property) {
		this.environment.setProperty(property, "2h");
		this.environment.setProperty(TASKS + "close-order.max-concurrent", "5");
		this.environment.setProperty(TASKS + "close-order.max-attempts", "6");
		this.environment.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource("systemEnvironment",
					Map.of("TIMINGWHEEL_TIMEOUT_LIMITS_FIRST_BYARGUMENT", "50ms",
							"TIMINGWHEEL_TASKS_CLOSEORDER_MAXCONCURRENT", "4", "TIMINGWHEEL_TASKS_CLOSEORDER_RATE",
							"9/s")));
		assertThat(new TimeoutLimitProperties(this.environment).find("first", "byArgument")).hasMillis(50);
		PolicySettings policy = new TaskPolicyProperties(this.environment).of("close-order");
		assertThat(policy.maxConcurrent()).isEqualTo(4);
		assertThat(policy.rate()).isEqualTo(StartRate.parse("9/s"));
		assertThat(policy.maxAttempts()).isEqualTo(6);
	}

	@Test
	void aNameThatNoMethodHasIsAWarningWithAllNamesAndAMethodThatIsSwitchedOffHasItsName(CapturedOutput output) {
		this.runner.withPropertyValues(TASKS + "claen.rate=1/s", TASKS + "clean.max-attempts=3",
				TASKS + "nightly-report.max-attempts=3", LIMITS + "cleaner.qoute=50ms", LIMITS + "cleaner.quote=50ms")
			.withBean("cleaner", Cleaner.class)
			.run((context) -> assertThat(output).containsOnlyOnce("no method with @Delayed or @Recurring has")
				.contains("timingwheel.tasks.claen sets the policy of tasks that no method with @Delayed or"
						+ " @Recurring has. The names are [clean, nightly-report]. It takes effect only for tasks in memory"
						+ " to which code gives the name. Durable tasks follow the policy of the applications that have the"
						+ " method")
				.containsOnlyOnce("has no effect")
				.contains(LIMITS + "cleaner.qoute has no effect, because no bean has a method with @Timeout of this"
						+ " name. The names are [cleaner.quote]"));
	}

	private static PolicySettings policy(AssertableApplicationContext context, String name) {
		return context.getBean(DelayedTaskRegistry.class).policies().of(name);
	}

	static class Callbacks {

		@Delayed(delay = "1s", name = "callback", key = "#id",
				policy = @TaskPolicy(maxAttempts = 5,
						backoff = @Backoff(initial = "2s", multiplier = 3, max = "${app.max}", jitter = 0),
						maxConcurrent = 10, maxConcurrentPerKey = 1, rate = "#{'${app.rate}'}"))
		public void send(long id) {
		}

	}

	static class Cleaner {

		@Recurring(every = "1h", name = "clean")
		public void clean() {
		}

		@Recurring(cron = "-", name = "nightly-report")
		public void report() {
		}

		@Timeout("1s")
		public void quote() {
		}

	}

}
