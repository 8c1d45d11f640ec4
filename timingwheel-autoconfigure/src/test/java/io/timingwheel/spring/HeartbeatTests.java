package io.timingwheel.spring;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A million heartbeats of a hundred thousand drivers. Each driver goes offline ten
 * minutes after the last heartbeat.
 */
class HeartbeatTests {

	private static final Log logger = LogFactory.getLog(HeartbeatTests.class);

	private static final int DRIVERS = 100_000;

	private static final int ROUNDS = 10;

	private static final int THREADS = 2;

	private static final Duration SILENCE = Duration.ofMinutes(10);

	private final ManualTimeSource time = new ManualTimeSource();

	@Test
	void eachDriverGoesOfflineOnceWithTheLastReportAndOnlyAfterTheSilence() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class))
			.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.timeSource(this.time))
			.withBean("drivers", Drivers.class)
			.run((context) -> {
				Drivers drivers = context.getBean(Drivers.class);
				DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
				TimingWheel wheel = context.getBean(TimingWheel.class);
				String[] ids = IntStream.range(0, DRIVERS)
					.mapToObj((driver) -> "driver-" + driver)
					.toArray(String[]::new);
				long heap = usedHeap();
				long start = System.nanoTime();
				for (int round = 0; round < ROUNDS; round++) {
					report(drivers, ids, round);
					assertThat(tasks.pendingCount()).isEqualTo(DRIVERS);
					this.time.advance(SILENCE.minusNanos(1));
					assertThat(drivers.offline()).isZero();
				}
				long reported = System.nanoTime();
				assertThat(wheel.pending()).isEqualTo(DRIVERS);
				long bytes = (usedHeap() - heap) / DRIVERS;
				long silent = System.nanoTime();
				// The tick at or after the deadline.
				this.time.advance(Duration.ofMillis(1));
				await().until(() -> drivers.offline() == DRIVERS);
				logger.info("%,d heartbeats in %,d ms, %,d drivers offline in %,d ms, %d bytes of heap per pending call"
					.formatted(ROUNDS * DRIVERS, (reported - start) / 1_000_000, DRIVERS,
							(System.nanoTime() - silent) / 1_000_000, bytes));
				assertThat(tasks.pendingCount()).isZero();
				assertThat(wheel.pending()).isZero();
				assertThat(drivers.areOfflineOnceAfterTheirLastReport()).isTrue();
				this.time.advance(SILENCE.multipliedBy(2));
				assertThat(drivers.offline()).isEqualTo(DRIVERS);
			});
	}

	/**
	 * One report of each driver, from several threads.
	 */
	private static void report(Drivers drivers, String[] ids, int round) {
		CompletableFuture<?>[] threads = IntStream.range(0, THREADS)
			.mapToObj((thread) -> CompletableFuture.runAsync(() -> {
				for (int driver = thread; driver < DRIVERS; driver += THREADS) {
					drivers.markOffline(ids[driver], driver, round);
				}
			}))
			.toArray(CompletableFuture[]::new);
		CompletableFuture.allOf(threads).join();
	}

	private static long usedHeap() {
		System.gc();
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

	static class Drivers {

		private final AtomicIntegerArray offline = new AtomicIntegerArray(DRIVERS);

		private final AtomicLongArray lastReport = new AtomicLongArray(DRIVERS);

		private final LongAdder total = new LongAdder();

		@Delayed(delay = "10m", name = "driver-silent", key = "#driverId")
		public void markOffline(String driverId, int driver, long report) {
			this.lastReport.set(driver, report);
			this.offline.incrementAndGet(driver);
			this.total.increment();
		}

		long offline() {
			return this.total.sum();
		}

		boolean areOfflineOnceAfterTheirLastReport() {
			return IntStream.range(0, DRIVERS)
				.allMatch((driver) -> this.offline.get(driver) == 1 && this.lastReport.get(driver) == ROUNDS - 1);
		}

	}

}
