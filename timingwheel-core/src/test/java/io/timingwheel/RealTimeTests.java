package io.timingwheel;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
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
 * Tests for the wheel on the clock of the JVM, as {@link SoakTests}: how late timers are,
 * and that the driver does nothing while nothing is due. The lateness, which also depends
 * on the machine, is only checked for its order of magnitude.
 */
@Tag("measuring")
class RealTimeTests {

	private static final Runnable NOTHING = () -> {
	};

	private final AtomicReference<Thread> driver = new AtomicReference<>();

	private final TimingWheel wheel = wheel(Duration.ofMillis(1));

	@AfterEach
	void close() {
		this.wheel.close();
	}

	@ParameterizedTest
	@ValueSource(longs = { 1_000_000, 100_000, 10_000_000 })
	void noTimerIsEarlyAndAllFireOnce(long tick) throws Exception {
		Duration limit = Duration.ofNanos(tick).plusMillis(50);
		Duration late = untilBelow(limit, () -> medianLateness(tick));
		assertThat(late).isLessThan(limit);
	}

	private Duration medianLateness(long tick) {
		int count = 100_000;
		long span = TimeUnit.SECONDS.toNanos(1);
		Random random = new Random(tick);
		try (TimingWheel wheel = wheel(Duration.ofNanos(tick))) {
			List<Stopwatch> timers = new ArrayList<>(count);
			for (int i = 0; i < count; i++) {
				Stopwatch timer = new Stopwatch(random.nextLong(span));
				timers.add(timer);
				wheel.schedule(timer, timer.delay, TimeUnit.NANOSECONDS);
			}
			await().until(() -> wheel.pending() == 0);
			assertThat(timers).allMatch((timer) -> timer.runs == 1);
			assertThat(timers).allMatch((timer) -> timer.lateness >= 0);
			long[] lateness = timers.stream().mapToLong((timer) -> timer.lateness).sorted().toArray();
			assertThat(wheel.snapshot().fired()).isEqualTo(count);
			return Duration.ofNanos(lateness[count / 2]);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void addingATimerWakesAParkedDriverInTime(boolean withFarTimer) throws Exception {
		Duration limit = Duration.ofMillis(50);
		Duration late = untilBelow(limit, () -> medianLateness(withFarTimer));
		assertThat(late).isLessThan(limit);
	}

	private Duration medianLateness(boolean withFarTimer) throws InterruptedException {
		long[] lateness = new long[50];
		if (withFarTimer) {
			this.wheel.schedule(NOTHING, 1, TimeUnit.HOURS);
		}
		for (int i = 0; i < lateness.length; i++) {
			awaitParked();
			Stopwatch timer = new Stopwatch(TimeUnit.MILLISECONDS.toNanos(i % 5));
			CountDownLatch ran = new CountDownLatch(1);
			this.wheel.schedule(() -> {
				timer.run();
				ran.countDown();
			}, timer.delay, TimeUnit.NANOSECONDS);
			assertThat(ran.await(60, TimeUnit.SECONDS)).isTrue();
			lateness[i] = timer.lateness;
		}
		Arrays.sort(lateness);
		assertThat(lateness[0]).isNotNegative();
		return Duration.ofNanos(lateness[lateness.length / 2]);
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

	/**
	 * Returns the first good result, or else the last of five. Other processes may
	 * disturb a measurement.
	 */
	private static Duration untilBelow(Duration limit, Callable<Duration> measurement) throws Exception {
		Duration result = measurement.call();
		for (int i = 1; i < 5 && result.compareTo(limit) >= 0; i++) {
			result = measurement.call();
		}
		return result;
	}

	private TimingWheel wheel(Duration tick) {
		return TimingWheel.builder(Runnable::run).tick(tick).threadFactory((task) -> {
			Thread thread = new Thread(task);
			thread.setDaemon(true);
			this.driver.set(thread);
			return thread;
		}).build();
	}

	private void awaitParked() {
		await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(() -> {
			Thread.State state = this.driver.get().getState();
			return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
		});
	}

	/**
	 * A task that measures how late it runs.
	 */
	private static final class Stopwatch implements Runnable {

		private final long start = System.nanoTime();

		private final long delay;

		private volatile int runs;

		private volatile long lateness;

		Stopwatch(long delay) {
			this.delay = delay;
		}

		@Override
		public void run() {
			this.lateness = System.nanoTime() - this.start - this.delay;
			this.runs = this.runs + 1;
		}

	}

}
