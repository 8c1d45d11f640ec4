package io.timingwheel;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the wheel on the clock of the JVM, as {@link SoakTests}: how late timers are
 * that wake the driver, and that the driver does nothing while nothing is due. The
 * lateness, which also depends on the machine, is only checked for its order of
 * magnitude.
 */
@Tag("measuring")
class RealTimeTests {

	private static final Runnable NOTHING = () -> {
	};

	private final AtomicReference<Thread> driver = new AtomicReference<>();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).threadFactory((task) -> {
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		this.driver.set(thread);
		return thread;
	}).build();

	@AfterEach
	void close() {
		this.wheel.close();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void addingATimerWakesAParkedDriverInTime(boolean withFarTimer) throws Exception {
		Duration limit = Duration.ofMillis(50);
		Duration late = medianLateness(withFarTimer);
		// Other processes may disturb a measurement.
		for (int i = 1; i < 5 && late.compareTo(limit) >= 0; i++) {
			late = medianLateness(withFarTimer);
		}
		assertThat(late).isLessThan(limit);
	}

	private Duration medianLateness(boolean withFarTimer) throws Exception {
		long[] lateness = new long[50];
		if (withFarTimer) {
			this.wheel.schedule(NOTHING, 1, TimeUnit.HOURS);
		}
		for (int i = 0; i < lateness.length; i++) {
			awaitParked();
			long delay = TimeUnit.MILLISECONDS.toNanos(i % 5);
			CompletableFuture<Long> ranAt = new CompletableFuture<>();
			long start = System.nanoTime();
			this.wheel.schedule(() -> ranAt.complete(System.nanoTime()), delay, TimeUnit.NANOSECONDS);
			lateness[i] = ranAt.get(60, TimeUnit.SECONDS) - start - delay;
		}
		Arrays.sort(lateness);
		assertThat(lateness[0]).isNotNegative();
		return Duration.ofNanos(lateness[lateness.length / 2]);
	}

	/** Netty #1246, #9710: the worker wakes up at each tick, even if nothing is due. */
	@Test
	void withNothingPendingTheDriverParksWithoutALimit() {
		await().until(() -> this.driver.get().getState() == Thread.State.WAITING);
		assertNoWakeUpsFor(Duration.ofMillis(500));
		await().until(() -> this.driver.get().getState() == Thread.State.WAITING);
	}

	/** Kafka: buckets that cancels have emptied still wake the reaper. */
	@Test
	void withAllTimersCancelledTheDriverParksWithoutALimitAfterItHasVisitedTheirSlots() {
		for (int i = 0; i < 100; i++) {
			this.wheel.schedule(NOTHING, 20 + i, TimeUnit.MILLISECONDS).cancel();
		}
		await().until(() -> this.driver.get().getState() == Thread.State.WAITING);
		// At most one wake-up for each slot that a cancel has emptied.
		assertThat(this.wheel.snapshot().wakeUps()).isLessThanOrEqualTo(100);
	}

	/**
	 * Netty visits far timers in each rotation: a million of them take 20 % of a core.
	 */
	@Test
	void aMillionFarTimersCauseNoWakeUps() {
		for (int i = 0; i < 1_000_000; i++) {
			this.wheel.schedule(NOTHING, 60_000_000L + i, TimeUnit.MICROSECONDS);
		}
		await().until(() -> this.driver.get().getState() == Thread.State.TIMED_WAITING);
		long cpu = driverCpuNanos();
		assertNoWakeUpsFor(Duration.ofSeconds(2));
		assertThat(Duration.ofNanos(driverCpuNanos() - cpu)).isLessThan(Duration.ofMillis(50));
		assertThat(this.wheel.pending()).isEqualTo(1_000_000);
	}

	@Test
	void heartbeatsOfFarTimersCauseNoWakeUps() {
		List<TimerHandle> handles = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			handles.add(this.wheel.schedule(NOTHING, 60, TimeUnit.SECONDS));
		}
		AtomicInteger beats = new AtomicInteger();
		await().during(Duration.ofSeconds(1)).atMost(Duration.ofSeconds(30)).until(() -> {
			handles.forEach((handle) -> handle.reschedule(60, TimeUnit.SECONDS));
			beats.incrementAndGet();
			return this.wheel.snapshot().wakeUps() == 0;
		});
		assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(beats.get() * 1_000L);
	}

	private void assertNoWakeUpsFor(Duration time) {
		await().during(time)
			.atMost(time.plusSeconds(30))
			.pollInterval(Duration.ofMillis(100))
			.until(() -> this.wheel.snapshot().wakeUps(), (wakeUps) -> wakeUps == 0);
	}

	private long driverCpuNanos() {
		return ManagementFactory.getThreadMXBean().getThreadCpuTime(this.driver.get().getId());
	}

	private void awaitParked() {
		await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(() -> {
			Thread.State state = this.driver.get().getState();
			return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
		});
	}

}
