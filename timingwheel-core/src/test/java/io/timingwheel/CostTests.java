package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.timingwheel.interleaving.Hooks;
import io.timingwheel.interleaving.InstrumentingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests how often calls read the clock, and that periodic tasks need no memory. The lock
 * of a shard and the thread that waits do not count.
 */
class CostTests {

	private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

	@Test
	void onlyTheFirstTimerOfItsShardReadsTheClockThoughItHasADeadline() throws Exception {
		runInstrumented(Calls.class);
	}

	@Test
	void runsOfAPeriodicTaskAllocateNothing() throws Exception {
		runInstrumented(PeriodicRuns.class);
	}

	private static void runInstrumented(Class<? extends Runnable> test) throws ReflectiveOperationException {
		try {
			((Runnable) InstrumentingClassLoader.constructor(test).newInstance()).run();
		}
		finally {
			Hooks.observeNothing();
		}
	}

	static final class Calls implements Runnable {

		private final ManualTimeSource clock = new ManualTimeSource();

		private final TimingWheel wheel = TimingWheel.builder(Runnable::run).shards(1).timeSource(this.clock).build();

		private int readings;

		@Override
		public void run() {
			this.clock.advance(Duration.ofHours(10));
			long now = this.wheel.nanoTime();
			Hooks.observe(null, () -> this.readings++);
			TimerHandle first = scheduleAt(now + MINUTE);
			assertReadings("the first timer with a deadline", 1);
			TimerHandle last = first;
			for (int i = 1; i < 100; i++) {
				last = scheduleAt(now + (1 + i) * MINUTE);
				scheduleAt(now + MINUTE);
			}
			assertReadings("other timers with deadlines", 0);
			assertThat(first.rescheduleAt(now + 200 * MINUTE)).isTrue();
			assertReadings("a move to a later deadline", 0);
			assertThat(last.rescheduleAt(now + 2 * MINUTE)).isTrue();
			assertReadings("a move to a sooner deadline", 0);
			assertThat(last.cancel()).isTrue();
			assertReadings("a cancel", 0);
			first = this.wheel.schedule(() -> {
			}, 2, TimeUnit.MINUTES);
			assertReadings("a timer with a delay", 1);
			assertThat(first.reschedule(3, TimeUnit.MINUTES)).isTrue();
			assertReadings("a move by a delay", 1);
			scheduleAt(now + 1);
			assertReadings("a timer before all others", 1);
		}

		private TimerHandle scheduleAt(long deadline) {
			return this.wheel.scheduleAt(() -> {
			}, deadline);
		}

		private void assertReadings(String call, int expected) {
			assertThat(this.readings).as(call).isEqualTo(expected);
			this.readings = 0;
		}

	}

	static final class PeriodicRuns implements Runnable {

		private final ManualTimeSource clock = new ManualTimeSource();

		private final ScheduledExecutorService service = TimingWheel.builder(Runnable::run)
			.timeSource(this.clock)
			.build()
			.asScheduledExecutorService();

		private int runs;

		private int allocations;

		@Override
		public void run() {
			this.service.scheduleAtFixedRate(() -> this.runs++, 1, 1, TimeUnit.MILLISECONDS);
			// The slots get their lists in the first two rotations.
			this.clock.advance(Duration.ofMillis(600));
			Hooks.observe(() -> this.allocations++, null);
			this.clock.advance(Duration.ofMillis(1_000));
			assertThat(this.runs).isEqualTo(1_600);
			assertThat(this.allocations).isZero();
		}

	}

}
