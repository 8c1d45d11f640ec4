package io.timingwheel.spring.actuate;

import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.PartialOutage;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.task.internal.ManualTime;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/** Health and meters of a store. */
class StoreHealthTests {

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class, MetricsAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelActuatorAutoConfiguration.class,
				JacksonAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean(Reminders.class);

	@Test
	void deadTasksAreADetailAndChangeNothing() {
		MemoryStore store = new MemoryStore();
		this.contextRunner.withBean(MemoryStore.class, () -> store)
			.withPropertyValues("timingwheel.store.poll-interval=10ms", "timingwheel.store.max-attempts=1")
			.run((context) -> {
				HealthIndicator indicator = context.getBean(TimingWheelHealthIndicator.class);
				store.insert("remind", "k", "no payload");
				await().until(() -> store.counts(List.of()).getOrDefault("remind", StoredCounts.NONE).dead() == 1);
				await().until(() -> Long.valueOf(1).equals(indicator.health().getDetails().get("dead")));
				assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
			});
	}

	@Test
	void aStoreIsDownIfAPartDoesNotAnswerAndThePartIsNamed() {
		MemoryStore store = new MemoryStore();
		this.contextRunner.withBean(MemoryStore.class, () -> store)
			.withPropertyValues("timingwheel.store.poll-interval=10ms")
			.run((context) -> {
				Gauge up = context.getBean(MeterRegistry.class).get("timingwheel.store.up").gauge();
				HealthIndicator indicator = context.getBean(TimingWheelHealthIndicator.class);
				assertThat(indicator.health().getDetails()).contains(entry("store", "UP"))
					.doesNotContainKeys("storeDownSince", "missingStoreParts");
				assertThat(up.value()).isOne();
				store.partialOutage(new PartialOutage(Set.of("redis-2:6379"),
						new QueryTimeoutException("a long statement", new IllegalStateException("no answer"))));
				await().until(() -> Status.DOWN.equals(indicator.health().getStatus()));
				assertThat(indicator.health().getDetails())
					.contains(entry("store", "DOWN"), entry("missingStoreParts", Set.of("redis-2:6379")),
							entry("error", "java.lang.IllegalStateException: no answer"))
					.containsKey("storeDownSince");
				assertThat(up.value()).isZero();
				DelayedTasksEndpoint endpoint = new DelayedTasksEndpoint(context.getBean(DelayedTaskRegistry.class),
						context.getBean(StoredTasks.class), Show.NEVER, Set.of());
				assertThat(endpoint.tasksOfName(SecurityContext.NONE, "remind", null, null, null).getStatus())
					.isEqualTo(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
				store.partialOutage(null);
				await().until(() -> Status.UP.equals(indicator.health().getStatus()));
				assertThat(up.value()).isOne();
			});
	}

	@Test
	void whileACountHangsHealthShowsTheEarlierOne() {
		HangingStore store = new HangingStore();
		this.contextRunner.withBean(MemoryStore.class, () -> store)
			.withBean(ManualTime.class, StoreHealthTests::timeThatKeepsNoCounts)
			.run((context) -> {
				HealthIndicator indicator = context.getBean(TimingWheelHealthIndicator.class);
				assertThat(indicator.health().getDetails()).containsEntry("dead", 0L);
				store.hang.set(true);
				Executor thread = (task) -> new Thread(task).start();
				CompletableFuture<?> hanging = CompletableFuture.runAsync(indicator::health, thread);
				await().until(store.counts::hasQueuedThreads);
				assertThat(CompletableFuture.supplyAsync(indicator::health, thread))
					.succeedsWithin(Duration.ofMinutes(1))
					.satisfies((health) -> assertThat(health.getDetails()).containsEntry("dead", 0L));
				assertThat(hanging).isNotDone();
				store.counts.release();
				assertThat(hanging).succeedsWithin(Duration.ofMinutes(1));
			});
	}

	@Test
	void readingsOfAllMetersWithinFiveSecondsCountTheStoredTasksOnce() {
		MemoryStore store = new MemoryStore();
		store.insert("of-another-application", "k", "{}");
		this.contextRunner.withBean(MemoryStore.class, () -> store).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			long start = System.nanoTime();
			int before = store.countsOfAllNames();
			for (int i = 0; i < 10; i++) {
				assertThat(registry.get("timingwheel.store.unknown").gauge().value()).isOne();
				registry.getMeters().forEach((meter) -> meter.measure().forEach(Measurement::getValue));
			}
			// On a machine that stalls, the readings may take longer.
			long spans = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start) / 5;
			assertThat(store.countsOfAllNames() - before).isLessThanOrEqualTo((int) (1 + spans));
			assertThat(store.countedNames()).isEmpty();
		});
	}

	@Test
	void aDurableMethodThatIsSeenLateHasGauges() {
		this.contextRunner.withBean(MemoryStore.class).run((context) -> {
			context.getAutowireCapableBeanFactory().createBean(Late.class).remind(5);
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (String gauge : List.of("overdue", "dead")) {
				assertThat(registry.get("timingwheel.store." + gauge).tag("name", "late").gauge().value()).isZero();
			}
		});
	}

	private static ManualTime timeThatKeepsNoCounts() {
		ManualTime time = mock();
		given(time.timeSource()).willReturn(new ManualTimeSource());
		given(time.clock()).willReturn(Clock.systemUTC());
		return time;
	}

	/** Does not answer once it hangs, until a test releases a count. */
	private static final class HangingStore extends MemoryStore {

		private final AtomicBoolean hang = new AtomicBoolean();

		private final Semaphore counts = new Semaphore(0);

		@Override
		public Map<String, StoredCounts> counts(Collection<String> names) {
			if (this.hang.get()) {
				this.counts.acquireUninterruptibly();
			}
			return super.counts(names);
		}

	}

	static class Reminders {

		@Delayed(delay = "1h", name = "remind", durable = true)
		public void remind(long userId) {
		}

	}

	static class Late {

		@Delayed(delay = "30m", name = "late", durable = true)
		public void remind(long userId) {
		}

	}

}
