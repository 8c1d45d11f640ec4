package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.ValueAtPercentile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class TimingWheelMetricsTests {

	private static final Duration HALF_HOUR = Duration.ofMinutes(30);

	private static final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	@RegisterExtension
	static final VirtualApplication app = application(registry).with(
			"management.metrics.distribution.percentiles.timingwheel.tasks.lateness=0.5,0.99",
			"management.metrics.distribution.slo.timingwheel.tasks=100ms,1s");

	private static VirtualApplication application(MeterRegistry registry) {
		return VirtualApplication.of(Metrics.class, Orders.class, Heartbeat.class)
			.with(MeterRegistry.class, () -> registry)
			.with("otherOrders", Shop.Orders.class, Shop.Orders::new);
	}

	@Test
	void metersExistFromTheStartAndEachRunOfARecurringTaskIsCountedAndTimed() {
		SimpleMeterRegistry fresh = new SimpleMeterRegistry();
		try (VirtualApplication application = application(fresh)) {
			application.context();
			for (String outcome : List.of("completed", "failed", "cancelled", "expired", "replaced", "superseded")) {
				assertThat(ended(fresh, "close-order", outcome)).isZero();
			}
			assertThat(pending(fresh, "close-order")).isZero();
			assertThat(timer(fresh, "lateness", "close-order").count()).isZero();
			for (String method : List.of("quoteInTime", "quote", "quoteLater")) {
				assertThat(timeouts(fresh, Orders.class, method)).isZero();
			}
			assertThat(fresh.get("timingwheel.tasks").meters())
				.as("counters, since the Prometheus name ends with total")
				.allSatisfy((meter) -> assertThat(meter.getId().getType()).isEqualTo(Meter.Type.COUNTER));
			for (int run = 1; run <= 3; run++) {
				application.advance(Duration.ofMinutes(10));
				assertThat(timer(fresh, "lateness", "heartbeat").count()).isEqualTo(run);
				assertThat(timer(fresh, "duration", "heartbeat").count()).isEqualTo(run);
				assertThat(ended(fresh, "heartbeat", "completed")).isEqualTo(run);
				assertThat(pending(fresh, "heartbeat")).isOne();
			}
		}
	}

	@Test
	void pendingTasksAreGaugedByTheirNamesAlsoIfTheMetersAreBoundLaterAndKeysDoNotBecomeTags(Orders orders) {
		orders.close(815);
		orders.close(816);
		MeterRegistry late = new SimpleMeterRegistry();
		app.bean(TimingWheelMetrics.class).bindTo(late);
		app.tasks().schedule(TaskId.of("ping", "a"), Duration.ofMinutes(1), () -> {
		});
		for (MeterRegistry each : List.of(registry, late)) {
			assertThat(pending(each, "close-order")).isEqualTo(2);
			assertThat(pending(each, "ping")).isOne();
		}
		assertThat(registry.getMeters())
			.allSatisfy((meter) -> assertThat(meter.getId().getTags().toString()).doesNotContain("815"));
	}

	@Test
	void endedTasksAreCountedByTheirNameAndOutcome(Orders orders) {
		double completed = ended(registry, "close-order", "completed");
		double cancelled = ended(registry, "close-order", "cancelled");
		orders.close(1);
		orders.close(2);
		orders.close(3);
		orders.close(3);
		app.tasks().cancel(TaskId.of("close-order", 1));
		assertThat(ended(registry, "close-order", "cancelled") - cancelled).isOne();
		orders.fail(4);
		app.advance(HALF_HOUR);
		assertThat(ended(registry, "close-order", "completed") - completed).isEqualTo(2);
		assertThat(ended(registry, "close-order", "replaced")).isOne();
		assertThat(ended(registry, "close-order", "failed")).isZero();
		assertThat(ended(registry, "close-order", "expired")).isZero();
		assertThat(ended(registry, "orders.fail", "failed")).isOne();
	}

	@Test
	void theDurationOfATaskLastsUntilItsFutureIsDoneAndTimesFollowThePropertiesOfMicrometer(Orders orders) {
		Timer duration = timer(registry, "duration", "orders.ask");
		CompletableFuture<String> answer = new CompletableFuture<>();
		orders.ask(answer);
		app.advance(HALF_HOUR);
		app.advanceSeconds(5);
		assertThat(duration.count()).isZero();
		answer.complete("yes");
		assertThat(duration.totalTime(TimeUnit.SECONDS)).isEqualTo(5);
		assertThat(duration.takeSnapshot().histogramCounts())
			.extracting((bucket) -> bucket.bucket(TimeUnit.MILLISECONDS))
			.containsExactly(100.0, 1000.0);
		assertThat(timer(registry, "lateness", "orders.ask").count()).isOne();
		assertThat(timer(registry, "lateness", "orders.ask").takeSnapshot().percentileValues())
			.extracting(ValueAtPercentile::percentile)
			.containsExactly(0.5, 0.99);
	}

	@Test
	void aHundredNamesHaveMetersAndOneWarningSaysSo(CapturedOutput output) {
		SimpleMeterRegistry fresh = new SimpleMeterRegistry();
		try (VirtualApplication application = application(fresh)) {
			IntStream.range(0, 1500)
				.forEach((i) -> application.tasks().task(() -> "done").name("name-" + i).after(HALF_HOUR));
			assertThat(fresh.get("timingwheel.tasks.pending").gauges())
				.extracting((gauge) -> gauge.getId().getTag("name"))
				.hasSize(100)
				.doesNotHaveDuplicates()
				.contains("close-order");
			assertThat(fresh.get("timingwheel.tasks").functionCounters()).hasSize(600);
			assertThat(fresh.get("timingwheel.tasks.lateness").timers()).hasSize(100);
			application.advance(HALF_HOUR);
			assertThat(application.counts("name-1499").completed()).isOne();
		}
		assertThat(output).containsOnlyOnce("Reached the maximum number of 'name' tags");
	}

	@Test
	void callsAndFuturesThatTimeOutAreCountedByTheirMethod(Orders orders) {
		assertThat(orders.quoteInTime()).isEqualTo("quote");
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(orders::quote);
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(orders::quote);
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(app.bean(Shop.Orders.class)::quote);
		orders.quoteLater();
		app.advance(Duration.ofMillis(500));
		assertThat(timeouts(registry, Orders.class, "quoteInTime")).isZero();
		assertThat(timeouts(registry, Orders.class, "quote")).isEqualTo(2);
		assertThat(timeouts(registry, Shop.Orders.class, "quote")).as("of a class of the same name").isOne();
		assertThat(timeouts(registry, Orders.class, "quoteLater")).isOne();
	}

	private static double timeouts(MeterRegistry registry, Class<?> type, String method) {
		return registry.get("timingwheel.timeouts")
			.tag("class", type.getName())
			.tag("method", type.getSimpleName() + "." + method)
			.counter()
			.count();
	}

	private static double pending(MeterRegistry registry, String name) {
		return registry.get("timingwheel.tasks.pending").tag("name", name).gauge().value();
	}

	private static double ended(MeterRegistry registry, String name, String outcome) {
		return registry.get("timingwheel.tasks").tag("name", name).tag("outcome", outcome).functionCounter().count();
	}

	private static Timer timer(MeterRegistry registry, String meter, String name) {
		return registry.get("timingwheel.tasks." + meter).tag("name", name).timer();
	}

	@ImportAutoConfiguration({ MetricsAutoConfiguration.class, TimingWheelActuatorAutoConfiguration.class })
	static class Metrics {

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
		public String quote() {
			app.advanceSeconds(1);
			return "late";
		}

		@Timeout("500ms")
		public CompletableFuture<String> quoteLater() {
			return new CompletableFuture<>();
		}

	}

	static class Shop {

		static class Orders {

			@Timeout("10ms")
			public String quote() {
				app.advanceSeconds(1);
				return "late";
			}

		}

	}

}
