package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.autoconfigure.TimingWheelMetricsAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
class TimingWheelMetricsTests {

	private final ManualTimeSource time = new ManualTimeSource();

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class, MetricsAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelMetricsAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withBean("orders", Orders.class);

	private final ApplicationContextRunner manualRunner = this.contextRunner
		.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.timeSource(this.time));

	@Test
	void pendingTasksAreGaugedByTheirName() {
		this.manualRunner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(pending(registry, "close-order")).isZero();
			context.getBean(Orders.class).close(5);
			context.getBean(Orders.class).close(6);
			context.getBean(DelayedTaskOperations.class).schedule(TaskId.of("ping", "a"), Duration.ofMinutes(1), () -> {
			});
			assertThat(pending(registry, "close-order")).isEqualTo(2);
			assertThat(pending(registry, "ping")).isOne();
		});
	}

	@Test
	void endedTasksAreCountedByTheirNameAndOutcome() {
		this.manualRunner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			orders.close(2);
			orders.close(3);
			orders.close(3);
			tasks.cancel(TaskId.of("close-order", 1));
			orders.fail(4);
			this.time.advance(Duration.ofMinutes(30));
			await().untilAsserted(() -> {
				assertThat(ended(registry, "close-order", "completed")).isEqualTo(2);
				assertThat(ended(registry, "close-order", "cancelled")).isOne();
				assertThat(ended(registry, "close-order", "replaced")).isOne();
				assertThat(ended(registry, "close-order", "failed")).isZero();
				assertThat(ended(registry, "close-order", "expired")).isZero();
				assertThat(ended(registry, "orders.fail", "failed")).isOne();
			});
		});
	}

	@Test
	void theTimesOfTasksAreTimersByTheirName() {
		this.manualRunner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(registry.get("timingwheel.tasks.lateness").tag("name", "close-order").timer().count()).isZero();
			context.getBean(Orders.class).close(1);
			context.getBean(Orders.class).fail(2);
			this.time.advance(Duration.ofMinutes(30));
			for (String meter : List.of("timingwheel.tasks.lateness", "timingwheel.tasks.duration")) {
				await().untilAsserted(() -> {
					assertThat(registry.get(meter).tag("name", "close-order").timer().count()).isOne();
					assertThat(registry.get(meter).tag("name", "orders.fail").timer().count()).isOne();
				});
			}
		});
	}

	@Test
	void eachRunOfARecurringTaskIsCountedAndTimedByItsName() {
		this.manualRunner.withBean(Heartbeat.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (int run = 1; run <= 3; run++) {
				assertThat(pending(registry, "heartbeat")).isOne();
				this.time.advance(Duration.ofMinutes(10));
				int runs = run;
				await().untilAsserted(() -> {
					for (String meter : List.of("timingwheel.tasks.lateness", "timingwheel.tasks.duration")) {
						assertThat(registry.get(meter).tag("name", "heartbeat").timer().count()).isEqualTo(runs);
					}
					assertThat(ended(registry, "heartbeat", "completed")).isEqualTo(runs);
					assertThat(pending(registry, "heartbeat")).isOne();
				});
			}
			assertThat(ended(registry, "heartbeat", "failed")).isZero();
		});
	}

	@Test
	void theDurationOfATaskLastsUntilItsFutureIsDone() {
		this.manualRunner.run((context) -> {
			Timer duration = context.getBean(MeterRegistry.class)
				.get("timingwheel.tasks.duration")
				.tag("name", "orders.ask")
				.timer();
			CompletableFuture<String> answer = new CompletableFuture<>();
			CompletableFuture<String> task = context.getBean(Orders.class).ask(answer);
			this.time.advance(Duration.ofMinutes(30));
			this.time.advance(Duration.ofSeconds(5));
			assertThat(duration.count()).isZero();
			await().until(() -> answer.getNumberOfDependents() > 0);
			this.time.advance(Duration.ofSeconds(5));
			answer.complete("yes");
			assertThat(task).succeedsWithin(Duration.ofMinutes(1));
			await().untilAsserted(() -> assertThat(duration.count()).isOne());
			await().untilAsserted(() -> assertThat(duration.totalTime(TimeUnit.SECONDS)).isBetween(5.0, 10.0));
		});
	}

	@Test
	void thePercentilesOfTheTimesFollowThePropertiesOfMicrometer() {
		this.manualRunner
			.withPropertyValues("management.metrics.distribution.percentiles.timingwheel.tasks.lateness=0.5,0.99",
					"management.metrics.distribution.slo.timingwheel.tasks=100ms,1s")
			.run((context) -> {
				context.getBean(Orders.class).close(1);
				this.time.advance(Duration.ofMinutes(30));
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				Timer lateness = registry.get("timingwheel.tasks.lateness").tag("name", "close-order").timer();
				await().until(() -> lateness.count() == 1);
				assertThat(lateness.takeSnapshot().percentileValues()).extracting(ValueAtPercentile::percentile)
					.containsExactly(0.5, 0.99);
				Timer duration = registry.get("timingwheel.tasks.duration").tag("name", "close-order").timer();
				assertThat(duration.takeSnapshot().histogramCounts())
					.extracting((bucket) -> bucket.bucket(TimeUnit.MILLISECONDS))
					.containsExactly(100.0, 1000.0);
			});
	}

	@Test
	void endedTasksAreACounterWhosePrometheusNameEndsWithTotal() {
		this.manualRunner
			.run((context) -> assertThat(context.getBean(MeterRegistry.class).get("timingwheel.tasks").meters())
				.isNotEmpty()
				.allSatisfy((meter) -> assertThat(meter.getId().getType()).isEqualTo(Meter.Type.COUNTER)));
	}

	@Test
	void namesBecomeTagsWhetherTheyAreUsedBeforeOrAfterTheMetersAreBound() {
		this.manualRunner.run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			tasks.task(() -> "before").name("before").after(Duration.ofMinutes(1));
			MeterRegistry late = new SimpleMeterRegistry();
			context.getBean(TimingWheelMetrics.class).bindTo(late);
			tasks.task(() -> "after").name("after").after(Duration.ofMinutes(1));
			assertThat(pending(late, "before")).isOne();
			assertThat(pending(late, "after")).isOne();
			assertThat(pending(late, "close-order")).isZero();
			assertThat(pending(context.getBean(MeterRegistry.class), "after")).isOne();
		});
	}

	@Test
	void aHundredNamesHaveMetersAndOneWarningSaysSo(CapturedOutput output) {
		this.manualRunner.run((context) -> {
			schedule(context.getBean(DelayedTaskOperations.class), 1500);
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(names(registry)).hasSize(100).doesNotHaveDuplicates().contains("close-order");
			assertThat(registry.get("timingwheel.tasks").functionCounters()).hasSize(600);
			assertThat(registry.get("timingwheel.tasks.lateness").timers()).hasSize(100);
			this.time.advance(Duration.ofMinutes(1));
			await().untilAsserted(
					() -> assertThat(context.getBean(DelayedTaskRegistry.class).counts("name-1499").completed())
						.isOne());
		});
		assertThat(output).containsOnlyOnce("More than 100 names of tasks");
	}

	private static void schedule(DelayedTaskOperations tasks, int names) {
		IntStream.range(0, names)
			.forEach((i) -> tasks.task(() -> "done").name("name-" + i).after(Duration.ofMinutes(1)));
	}

	private static List<String> names(MeterRegistry registry) {
		return registry.get("timingwheel.tasks.pending")
			.gauges()
			.stream()
			.map((gauge) -> gauge.getId().getTag("name"))
			.toList();
	}

	@Test
	void countersExistFromTheStart() {
		this.manualRunner.run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (String outcome : List.of("completed", "failed", "cancelled", "expired", "replaced", "superseded")) {
				assertThat(ended(registry, "close-order", outcome)).isZero();
			}
			for (String method : List.of("quoteInTime", "quote", "quoteLater")) {
				assertThat(timeouts(registry, Orders.class, method)).isZero();
			}
		});
	}

	@Test
	void timeoutsOfClassesWithOneSimpleNameAreCountedApart() {
		this.contextRunner.withBean(Shop.Orders.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(context.getBean(Shop.Orders.class)::quote);
			assertThat(timeouts(registry, Shop.Orders.class, "quote")).isOne();
			assertThat(timeouts(registry, Orders.class, "quote")).isZero();
		});
	}

	private static double timeouts(MeterRegistry registry, Class<?> type, String method) {
		return registry.get("timingwheel.timeouts")
			.tag("class", type.getName())
			.tag("method", type.getSimpleName() + "." + method)
			.counter()
			.count();
	}

	@Test
	void keysDoNotBecomeTags() {
		this.manualRunner.run((context) -> {
			context.getBean(Orders.class).close(815);
			assertThat(context.getBean(MeterRegistry.class).getMeters())
				.allSatisfy((meter) -> assertThat(meter.getId().getTags().toString()).doesNotContain("815"));
		});
	}

	@Test
	void theLagOfADriverThatIsBlockedIsGaugedInSeconds() {
		CountDownLatch release = new CountDownLatch(1);
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			this.contextRunner.withBean("wheel", TimingWheel.class, () -> wheel).run((context) -> {
				TimeGauge lag = context.getBean(MeterRegistry.class).get("timingwheel.lag").timeGauge();
				assertThat(lag.value(TimeUnit.SECONDS)).isZero();
				wheel.schedule(() -> awaitUninterruptibly(release), 0, TimeUnit.NANOSECONDS);
				wheel.schedule(() -> {
				}, 1, TimeUnit.MILLISECONDS);
				await().until(() -> lag.value(TimeUnit.MILLISECONDS) > 100);
				assertThat(lag.baseTimeUnit()).isEqualTo(TimeUnit.SECONDS);
				release.countDown();
				await().until(() -> lag.value(TimeUnit.MILLISECONDS) < 100);
			});
		}
		finally {
			release.countDown();
		}
	}

	@Test
	void callsThatTimeOutAreCountedByTheirMethod() {
		this.contextRunner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.quoteInTime()).isEqualTo("quote");
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(orders::quote);
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(orders::quote);
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(timeouts(registry, Orders.class, "quoteInTime")).isZero();
			assertThat(timeouts(registry, Orders.class, "quote")).isEqualTo(2);
		});
	}

	@Test
	void futuresThatTimeOutAreCountedByTheirMethod() {
		this.manualRunner.run((context) -> {
			CompletableFuture<String> quote = context.getBean(Orders.class).quoteLater();
			this.time.advance(Duration.ofMillis(500));
			assertThat(quote).failsWithin(Duration.ofMinutes(1));
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			await().untilAsserted(() -> assertThat(timeouts(registry, Orders.class, "quoteLater")).isOne());
		});
	}

	private static double pending(MeterRegistry registry, String name) {
		return registry.get("timingwheel.tasks.pending").tag("name", name).gauge().value();
	}

	private static double ended(MeterRegistry registry, String name, String outcome) {
		FunctionCounter counter = registry.get("timingwheel.tasks")
			.tag("name", name)
			.tag("outcome", outcome)
			.functionCounter();
		return counter.count();
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	static class Heartbeat {

		@Recurring(every = "10m", initialDelay = "10m", name = "heartbeat")
		public void beat() {
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public void close(long orderId) {
		}

		@Delayed("30m")
		public DelayedTask<String> fail(long orderId) {
			throw new IllegalStateException("Failed");
		}

		@Delayed("30m")
		public CompletableFuture<String> ask(CompletableFuture<String> answer) {
			return answer;
		}

		@Timeout("1m")
		public String quoteInTime() {
			return "quote";
		}

		@Timeout("10ms")
		public String quote() throws InterruptedException {
			TimeUnit.MINUTES.sleep(1);
			return "never";
		}

		@Timeout("500ms")
		public CompletableFuture<String> quoteLater() {
			return new CompletableFuture<>();
		}

	}

	static class Shop {

		static class Orders {

			@Timeout("10ms")
			public String quote() throws InterruptedException {
				TimeUnit.MINUTES.sleep(1);
				return "never";
			}

		}

	}

}
