package io.timingwheel;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that the driver does nothing while nothing is due.
 */
@Tag("measuring")
class IdleTests {

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

	/**
	 * Netty #1246, #9710: the worker wakes up at each tick, even if nothing is due.
	 */
	@Test
	void withNothingPendingTheDriverParksWithoutALimit() {
		await().until(() -> this.driver.get().getState() == Thread.State.WAITING);
		assertNoWakeUpsFor(Duration.ofMillis(500));
		await().until(() -> this.driver.get().getState() == Thread.State.WAITING);
	}

	/**
	 * Kafka: buckets that cancels have emptied still wake the reaper.
	 */
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

	@Test
	void driverParksAgainAfterATaskHasLeftAnInterrupt() {
		AtomicInteger ran = new AtomicInteger();
		DirectTask interrupting = () -> {
			ran.incrementAndGet();
			Thread.currentThread().interrupt();
		};
		this.wheel.schedule(interrupting, 1, TimeUnit.MILLISECONDS);
		this.wheel.schedule(NOTHING, 1, TimeUnit.HOURS);
		await().until(() -> ran.get() == 1 && this.driver.get().getState() == Thread.State.TIMED_WAITING);
		long cpu = driverCpuNanos();
		await().during(Duration.ofMillis(500))
			.atMost(Duration.ofSeconds(30))
			.until(() -> Duration.ofNanos(driverCpuNanos() - cpu).toMillis() < 50);
		assertThat(this.wheel.snapshot().wakeUps()).isLessThanOrEqualTo(3);
		this.wheel.schedule(ran::incrementAndGet, 1, TimeUnit.MILLISECONDS);
		await().until(() -> ran.get() == 2);
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

}
