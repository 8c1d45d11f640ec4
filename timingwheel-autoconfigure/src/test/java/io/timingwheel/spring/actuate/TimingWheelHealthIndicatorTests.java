package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

class TimingWheelHealthIndicatorTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelActuatorAutoConfiguration.class));

	@Test
	void aWheelIsDownWhileItIsFurtherBehindThanAllowedAndWhenItHasStopped() {
		CompletableFuture<Void> release = new CompletableFuture<>();
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		this.contextRunner.withBean("wheel", TimingWheel.class, () -> TimingWheel.builder(Runnable::run).build())
			.withBean(MeterRegistry.class, () -> registry)
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class))
			.withPropertyValues("timingwheel.health.max-lag=50ms")
			.run((context) -> {
				HealthIndicator indicator = context.getBean(TimingWheelHealthIndicator.class);
				TimingWheel wheel = context.getBean(TimingWheel.class);
				// Blocks the driver, as the executor runs tasks on the calling thread.
				wheel.schedule(release::join, 0, TimeUnit.NANOSECONDS);
				wheel.schedule(() -> {
				}, 1, TimeUnit.MILLISECONDS);
				await().until(() -> Status.DOWN.equals(indicator.health().getStatus()));
				assertThat((Duration) indicator.health().getDetails().get("lag"))
					.isGreaterThanOrEqualTo(Duration.ofMillis(50));
				TimeGauge lag = registry.get("timingwheel.lag").timeGauge();
				assertThat(lag.value(TimeUnit.MILLISECONDS)).isGreaterThanOrEqualTo(50);
				assertThat(lag.baseTimeUnit()).isEqualTo(TimeUnit.SECONDS);
				release.complete(null);
				await().until(() -> Status.UP.equals(indicator.health().getStatus()));
				await().untilAsserted(() -> assertThat(indicator.health().getDetails()).containsOnly(
						entry("state", WheelSnapshot.State.RUNNING), entry("pending", 0L), entry("lag", Duration.ZERO),
						entry("threshold", Duration.ofMillis(50))));
				wheel.stop();
				assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
				assertThat(indicator.health().getDetails()).contains(entry("state", WheelSnapshot.State.STOPPED));
			});
	}

	@Test
	void theIndicatorCanBeSwitchedOffAndReplaced() {
		this.contextRunner.withPropertyValues("management.health.timingwheel.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelHealthIndicator.class));
		this.contextRunner
			.withBean("timingWheelHealthIndicator", HealthIndicator.class, () -> () -> Health.unknown().build())
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelHealthIndicator.class));
	}

}
