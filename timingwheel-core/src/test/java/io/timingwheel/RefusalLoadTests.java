package io.timingwheel;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.ExtendWith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What refusals cost on the clock of the JVM. The bounds are generous, since other
 * processes may use the machine. The exact times are in {@link RefusalTests}.
 */
@ExtendWith(WheelLog.class)
class RefusalLoadTests {

	@Test
	void crowdOnAFullPoolCostsFewExceptionsAndDelaysNoOtherTimer(TestReporter reporter) throws Exception {
		long worst = Attempts.untilGood(() -> unrelatedLateWhileAPoolIsFull(reporter), (late) -> late < 100);
		assertThat(worst).isLessThan(100);
	}

	private static long unrelatedLateWhileAPoolIsFull(TestReporter reporter) {
		int count = 200_000;
		AtomicLong refusals = new AtomicLong();
		AtomicInteger runs = new AtomicInteger();
		CountDownLatch full = new CountDownLatch(1);
		ThreadPoolExecutor pool = new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1_000));
		pool.setRejectedExecutionHandler((task, executor) -> {
			refusals.incrementAndGet();
			throw new RejectedExecutionException("full");
		});
		for (int i = 0; i < 1_002; i++) {
			pool.execute(() -> Latches.await(full));
		}
		try (TimingWheel wheel = TimingWheel.builder(pool).build()) {
			for (int i = 0; i < count; i++) {
				wheel.schedule(runs::incrementAndGet, 400, TimeUnit.MILLISECONDS);
			}
			Probe probe = new Probe(wheel);
			await().until(() -> refusals.get() > 0);
			long begin = System.nanoTime();
			await().pollInterval(Duration.ofMillis(5)).until(() -> System.nanoTime() - begin > 1_000_000_000);
			long whileFull = refusals.get();
			long secondsFull = (System.nanoTime() - begin) / 1_000_000_000;
			full.countDown();
			await().until(() -> runs.get() == count);
			long drained = (System.nanoTime() - begin) / 1_000_000 - 1_000;
			probe.stop();
			reporter.publishEntry(Map.of("exceptions while full", "" + whileFull, "exceptions in all",
					"" + refusals.get(), "drained after [ms]", "" + drained, "unrelated late [ms]", "" + probe.worst));
			assertThat(whileFull).isLessThanOrEqualTo(100 * secondsFull);
			assertThat(refusals.get()).isLessThanOrEqualTo(1_000 * (2 + drained / 1_000));
			return probe.worst;
		}
		finally {
			pool.shutdownNow();
		}
	}

	@Test
	void executorThatRefusesEveryThirdCallLosesNothing(TestReporter reporter) throws Exception {
		long drained = Attempts.untilGood(() -> drainedWithEveryThirdCallRefused(reporter), (millis) -> millis < 5_000);
		assertThat(drained).isLessThan(5_000);
	}

	private static long drainedWithEveryThirdCallRefused(TestReporter reporter) {
		int count = 100_000;
		AtomicInteger calls = new AtomicInteger();
		AtomicInteger runs = new AtomicInteger();
		try (TimingWheel wheel = TimingWheel.builder((task) -> {
			if (calls.incrementAndGet() % 3 == 0) {
				throw new RejectedExecutionException("every third call");
			}
			task.run();
		}).build()) {
			long begin = System.nanoTime();
			for (int i = 0; i < count; i++) {
				wheel.schedule(runs::incrementAndGet, 300, TimeUnit.MILLISECONDS);
			}
			await().pollInterval(Duration.ofMillis(5)).until(() -> runs.get() == count);
			long drained = (System.nanoTime() - begin) / 1_000_000 - 300;
			reporter.publishEntry("drained after [ms]", "" + drained);
			return drained;
		}
	}

	@Test
	void deadExecutorDelaysNoHealthyOne(TestReporter reporter) throws Exception {
		long worst = Attempts.untilGood(() -> healthyLateBesideADeadExecutor(reporter), (late) -> late < 150);
		assertThat(worst).isLessThan(150);
	}

	private static long healthyLateBesideADeadExecutor(TestReporter reporter) {
		AtomicInteger healthyCalls = new AtomicInteger();
		AtomicLong refusals = new AtomicLong();
		AtomicLong latest = new AtomicLong();
		AtomicInteger runs = new AtomicInteger();
		Executor dead = (task) -> {
			refusals.incrementAndGet();
			throw new RejectedExecutionException("dead");
		};
		Executor healthy = (task) -> {
			if (healthyCalls.incrementAndGet() % 100 == 0) {
				throw new RejectedExecutionException("now and then");
			}
			task.run();
		};
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			long begin = System.nanoTime();
			for (int i = 0; i < 2_000; i++) {
				long due = begin + TimeUnit.MILLISECONDS.toNanos(i);
				wheel.schedule(new Routed(dead, () -> {
				}), due - System.nanoTime(), TimeUnit.NANOSECONDS);
				wheel.schedule(new Routed(healthy, () -> {
					latest.accumulateAndGet(System.nanoTime() - due, Math::max);
					runs.incrementAndGet();
				}), due - System.nanoTime(), TimeUnit.NANOSECONDS);
			}
			await().until(() -> runs.get() == 2_000);
			reporter.publishEntry(Map.of("exceptions of the dead one in 2 s", "" + refusals,
					"healthy late at most [ms]", "" + latest.get() / 1_000_000));
			assertThat(refusals.get()).isLessThanOrEqualTo(1_000 * (1 + (System.nanoTime() - begin) / 1_000_000_000));
			return latest.get() / 1_000_000;
		}
	}

	/**
	 * A timer every 5 ms, and how late the latest was, in milliseconds.
	 */
	private static final class Probe implements DirectTask {

		private final TimingWheel wheel;

		private long due;

		private volatile boolean stopped;

		private volatile long worst;

		Probe(TimingWheel wheel) {
			this.wheel = wheel;
			this.due = System.nanoTime();
			run();
		}

		@Override
		public void run() {
			long now = System.nanoTime();
			this.worst = Math.max(this.worst, (now - this.due) / 1_000_000);
			if (!this.stopped) {
				this.due = now + TimeUnit.MILLISECONDS.toNanos(5);
				this.wheel.schedule(this, 5, TimeUnit.MILLISECONDS);
			}
		}

		void stop() {
			this.stopped = true;
		}

	}

	private record Routed(Executor executor, Runnable task) implements RoutedTask {

		@Override
		public void run() {
			this.task.run();
		}

	}

}
