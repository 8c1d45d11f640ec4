package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.WheelSnapshot;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelHealthContributorAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.PartialOutage;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.support.MemoryStore;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.health.registry.HealthContributorRegistry;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

class TimingWheelHealthIndicatorTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelHealthContributorAutoConfiguration.class));

	@Test
	void aWheelThatRunsIsUp() {
		this.contextRunner.run((context) -> {
			Health health = context.getBean(TimingWheelHealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.UP);
			assertThat(health.getDetails()).containsOnly(entry("state", WheelSnapshot.State.RUNNING),
					entry("pending", 0L), entry("lag", Duration.ZERO), entry("maxLag", Duration.ofSeconds(1)));
		});
	}

	@Test
	void aWheelThatIsFurtherBehindThanAllowedIsDownUntilItHasCaughtUp() {
		CountDownLatch release = new CountDownLatch(1);
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			this.contextRunner.withBean("wheel", TimingWheel.class, () -> wheel)
				.withPropertyValues("timingwheel.health.max-lag=50ms")
				.run((context) -> {
					HealthIndicator indicator = context.getBean(TimingWheelHealthIndicator.class);
					// Blocks the driver, as the executor runs tasks on the calling
					// thread.
					wheel.schedule(() -> awaitUninterruptibly(release), 0, TimeUnit.NANOSECONDS);
					wheel.schedule(() -> {
					}, 1, TimeUnit.MILLISECONDS);
					await().until(() -> Status.DOWN.equals(indicator.health().getStatus()));
					assertThat((Duration) indicator.health().getDetails().get("lag"))
						.isGreaterThanOrEqualTo(Duration.ofMillis(50));
					release.countDown();
					await().until(() -> Status.UP.equals(indicator.health().getStatus()));
				});
		}
		finally {
			release.countDown();
		}
	}

	@Test
	void readinessDependsOnTheWheelOnlyIfTheApplicationSaysSo() {
		WebApplicationContextRunner runner = new WebApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class,
					TimingWheelHealthContributorAutoConfiguration.class,
					HealthContributorRegistryAutoConfiguration.class, HealthEndpointAutoConfiguration.class,
					ApplicationAvailabilityAutoConfiguration.class, AvailabilityProbesAutoConfiguration.class,
					AvailabilityHealthContributorAutoConfiguration.class))
			.withPropertyValues("management.endpoints.web.exposure.include=health",
					"management.endpoint.health.probes.enabled=true");
		runner.run((context) -> {
			AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
			AvailabilityChangeEvent.publish(context, LivenessState.CORRECT);
			context.getBean(TimingWheel.class).stop();
			HealthEndpoint health = context.getBean(HealthEndpoint.class);
			assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
			assertThat(health.healthForPath("readiness").getStatus()).isEqualTo(Status.UP);
			assertThat(health.healthForPath("liveness").getStatus()).isEqualTo(Status.UP);
		});
		runner.withPropertyValues("management.endpoint.health.group.readiness.include=readinessState,timingWheel")
			.run((context) -> {
				AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
				HealthEndpoint health = context.getBean(HealthEndpoint.class);
				assertThat(health.healthForPath("readiness").getStatus()).isEqualTo(Status.UP);
				context.getBean(TimingWheel.class).stop();
				assertThat(health.healthForPath("readiness").getStatus()).isEqualTo(Status.DOWN);
			});
	}

	@Test
	void deadTasksAreADetailAndChangeNothing() {
		MemoryStore store = new MemoryStore();
		this.contextRunner
			.withConfiguration(
					AutoConfigurations.of(JacksonAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withBean(MemoryStore.class, () -> store)
			.withBean(Reminders.class)
			.withPropertyValues("timingwheel.store.poll-interval=10ms", "timingwheel.store.max-attempts=1")
			.run((context) -> {
				HealthIndicator indicator = context.getBean(TimingWheelHealthIndicator.class);
				store.insert("remind", "k", "no payload");
				await().until(() -> store.counts().getOrDefault("remind", StoredCounts.NONE).dead() == 1);
				await().until(() -> Long.valueOf(1).equals(indicator.health().getDetails().get("dead")));
				assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
			});
	}

	@Test
	void aWheelThatIsStoppedIsDown() {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(new ManualTimeSource()).build();
		HealthIndicator indicator = new TimingWheelHealthIndicator(wheel, Duration.ofSeconds(1), null);
		assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
		wheel.stop();
		assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
		assertThat(indicator.health().getDetails()).contains(entry("state", WheelSnapshot.State.STOPPED));
	}

	@Test
	void aStoreIsDownIfAPartDoesNotAnswerAndThePartIsNamed() {
		MemoryStore store = new MemoryStore();
		this.contextRunner
			.withConfiguration(
					AutoConfigurations.of(JacksonAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withBean(MemoryStore.class, () -> store)
			.withBean(Reminders.class)
			.withPropertyValues("timingwheel.store.poll-interval=10ms")
			.run((context) -> {
				MeterRegistry meters = new SimpleMeterRegistry();
				new StoreMetrics(context.getBean(StoredTasks.class), context.getBean(DelayedTaskRegistry.class), 100)
					.bindTo(meters);
				Gauge up = meters.get("timingwheel.store.up").gauge();
				HealthIndicator indicator = context.getBean(TimingWheelHealthIndicator.class);
				assertThat(indicator.health().getDetails()).contains(entry("store", "UP"))
					.doesNotContainKeys("storeDownSince", "missingStoreParts");
				assertThat(up.value()).isOne();
				store.partialOutage(new PartialOutage(Set.of("redis-2:6379"), new IllegalStateException("no answer")));
				await().until(() -> Status.DOWN.equals(indicator.health().getStatus()));
				assertThat(indicator.health().getDetails())
					.contains(entry("store", "DOWN"), entry("missingStoreParts", Set.of("redis-2:6379")),
							entry("error", "java.lang.IllegalStateException: no answer"))
					.containsKey("storeDownSince");
				assertThat(up.value()).isZero();
				store.partialOutage(null);
				await().until(() -> Status.UP.equals(indicator.health().getStatus()));
				assertThat(up.value()).isOne();
			});
	}

	@Test
	void theComponentIsNamedAfterTheWheel() {
		this.contextRunner.withConfiguration(AutoConfigurations.of(HealthContributorRegistryAutoConfiguration.class))
			.run((context) -> assertThat(context.getBean(HealthContributorRegistry.class).getContributor("timingWheel"))
				.isInstanceOf(TimingWheelHealthIndicator.class));
	}

	@Test
	void theIndicatorCanBeSwitchedOffAndReplaced() {
		this.contextRunner.withPropertyValues("management.health.timingwheel.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelHealthIndicator.class));
		this.contextRunner
			.withBean("timingWheelHealthIndicator", HealthIndicator.class, () -> () -> Health.unknown().build())
			.run((context) -> assertThat(context).doesNotHaveBean(TimingWheelHealthIndicator.class));
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	static class Reminders {

		@Delayed(delay = "1h", name = "remind", durable = true)
		public void remind(long userId) {
		}

	}

}
