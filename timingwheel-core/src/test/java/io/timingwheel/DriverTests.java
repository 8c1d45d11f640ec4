package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;

import io.timingwheel.TimerList.Chunk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Tests for {@link Driver}, turn by turn, also at times that a thread has overslept. */
class DriverTests {

	@RegisterExtension
	final WheelLog log = new WheelLog();

	private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	/** This clock drives no wheel. The test calls the driver. */
	private final ManualTimeSource clock = new ManualTimeSource();

	private final WheelClock time = new WheelClock(this.clock, MILLI);

	private final Log reports = new Log(Log::taskFailed);

	private final Shard[] shards = { newShard(), newShard() };

	private final Driver driver = new Driver(this.time, this.shards, Runnable::run, this.reports, true);

	/** Fails if it has to report the exception of a task. */
	private final Log failingReports = new Log(Log::taskFailed) {

		@Override
		void report(Runnable task, Throwable error) {
			throw new IllegalStateException("no report");
		}

	};

	private final List<Long> fired = new ArrayList<>();

	private Shard newShard() {
		return new Shard.Padded(this.time, new DriverThread(this.time), new Log(Log::taskFailed), 256);
	}

	@Test
	void lagOfMoreThanASecondIsLoggedOnceAMinuteWithTheRemedy() {
		schedule(0, 50);
		this.clock.advance(Duration.ofMillis(1050));
		catchUp();
		assertThat(this.log.records()).isEmpty();
		schedule(0, 2000);
		schedule(1, 2100);
		this.clock.advance(Duration.ofSeconds(3));
		catchUp();
		assertThat(this.fired).hasSize(3);
		assertThat(this.log.records()).singleElement().satisfies((logged) -> {
			assertThat(logged.getLevel()).isEqualTo(Level.WARNING);
			assertThat(logged.getMessage()).contains("lags", "2050 ms", "Give such tasks to an executor");
		});
	}

	@Test
	void driverCatchesUpOversleptMinutesInBoundedStepsAndInOrder() {
		int count = 100_000;
		long span = TimeUnit.MINUTES.toMillis(5);
		List<Timer> timers = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			timers.add(schedule(i % 2, 1 + i * 7919L % span));
		}
		for (int i = 0; i < count; i += 10) {
			timers.get(i).cancel();
		}
		this.clock.advance(Duration.ofMillis(span));
		int most = catchUp();
		assertThat(this.fired).hasSize(count - count / 10).isSorted();
		assertThat(most).isLessThanOrEqualTo(Chunk.CAPACITY);
		assertThat(this.shards[0].pending() + this.shards[1].pending()).isZero();
	}

	@Test
	void timerThatIsDueWhileAMillionOthersCascadeWaitsForOneStepAtMost() {
		long slot = 100 * 256;
		for (int i = 0; i < 1_000_000; i++) {
			schedule(0, slot + 100 + i % 100);
		}
		for (int i = -5; i < 100; i++) {
			schedule(1, slot + i);
		}
		long preparing = this.driver.nextWake();
		assertThat(preparing).isLessThan(slot - 5);
		this.clock.advance(Duration.ofMillis(preparing));
		for (long tick = preparing; tick < slot + 100; tick++) {
			// One step of the cascade, and the two turns of the timer itself.
			int turns = 0;
			while (tick >= slot - 5 && this.driver.nextHandOver() <= tick) {
				this.driver.turn();
				turns++;
			}
			assertThat(turns).isLessThanOrEqualTo(3);
			// About 15,000 timers cascade in the time until the next tick.
			for (int i = 0; i < 31 && this.driver.nextWake() <= tick; i++) {
				this.driver.turn();
			}
			this.clock.advance(Duration.ofMillis(1));
		}
		assertThat(this.fired).hasSize(105).isSorted();
	}

	@Test
	void slotThatIsDueComesBeforeAnEarlyCascadeOfAnotherShard() {
		for (int i = 0; i < 1_000; i++) {
			schedule(0, 100 * 256 + i % 256);
		}
		schedule(1, 100 * 256 - 5);
		this.clock.advance(Duration.ofMillis(99 * 256 - 1));
		catchUp();
		this.clock.advance(Duration.ofMillis(252));
		while (this.fired.isEmpty()) {
			this.driver.turn();
			assertThat(this.shards[0].wheel.clock).as("the shard that has only to prepare").isZero();
		}
		catchUp();
		assertThat(this.shards[0].wheel.nextWake).isEqualTo(100 * 256);
	}

	/** The step fails as in the test below, and then the pause fails, too. */
	@Test
	void driverWhoseThreadHasEndedRejectsTimersAndStillReturnsTheOthers() {
		Driver failing = new Driver(this.time, this.shards, (timer) -> {
			timer.run();
			throw new IllegalStateException("on purpose");
		}, this.failingReports, true);
		schedule(0, 50);
		schedule(0, 90);
		this.clock.advance(Duration.ofMillis(50));
		DriverThread thread = new DriverThread(this.time) {

			@Override
			void pauseFor(Driver driver, long nanos) {
				throw new IllegalStateException("no pause");
			}

		};
		assertThatIllegalStateException().isThrownBy(() -> thread.run(failing)).withMessage("no pause");
		assertThat(failing.stopped).isTrue();
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> schedule(1, 50));
		ArrayList<Runnable> returned = new ArrayList<>();
		failing.stop(returned, 0);
		assertThat(returned).hasSize(1);
		assertThat(this.fired).containsExactly(50L);
	}

	/** The task has begun, so its exception has to be reported. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void handOverThatFailsLeavesNoInterruptOnTheDriver(boolean refusedBefore) {
		AtomicInteger calls = new AtomicInteger();
		Driver failing = new Driver(this.time, this.shards, (timer) -> {
			if (calls.getAndIncrement() == 0 && refusedBefore) {
				throw new RejectedExecutionException("on purpose");
			}
			timer.run();
			Thread.currentThread().interrupt();
			throw new IllegalStateException("on purpose");
		}, this.failingReports, true);
		schedule(0, 50);
		this.clock.advance(Duration.ofMillis(50));
		assertThatIllegalStateException().isThrownBy(() -> {
			for (int i = 0; i < 100; i++) {
				this.clock.advance(Duration.ofMillis(1));
				failing.turn();
			}
		});
		assertThat(Thread.interrupted()).isFalse();
		assertThat(calls).hasValue(refusedBefore ? 2 : 1);
		assertThat(this.fired).containsExactly(50L);
	}

	/** The pauses are 10, 20, 40, 80 and 160 ms. */
	@Test
	void threadPausesAfterAFailureThoughItWasInterrupted() {
		int count = 6;
		List<Long> failedAt = new ArrayList<>();
		AtomicReference<Driver> driver = new AtomicReference<>();
		driver.set(new Driver(this.time, this.shards, (timer) -> {
			timer.run();
			failedAt.add(System.nanoTime());
			if (failedAt.size() == count) {
				driver.get().shut();
			}
			Thread.currentThread().interrupt();
			throw new IllegalStateException("on purpose");
		}, this.failingReports, false));
		for (int i = 0; i < count; i++) {
			schedule(0, 50);
		}
		this.clock.advance(Duration.ofMillis(50));
		new DriverThread(this.time).run(driver.get());
		Thread.interrupted();
		assertThat(failedAt).hasSize(count);
		assertThat(Duration.ofNanos(failedAt.get(count - 1) - failedAt.get(0))).isGreaterThan(Duration.ofMillis(200));
	}

	/**
	 * Takes turns until nothing is left to do.
	 * @return the largest number of timers that have fired in one turn
	 */
	private int catchUp() {
		int most = 0;
		while (this.driver.nextWake() <= this.time.now()) {
			int before = this.fired.size();
			this.driver.turn();
			most = Math.max(most, this.fired.size() - before);
		}
		return most;
	}

	private Timer schedule(int shard, long tick) {
		Timer timer = new Timer(() -> this.fired.add(tick), tick);
		try (ShardLock held = this.shards[shard].lock()) {
			this.shards[shard].addLocked(timer, tick);
		}
		return timer;
	}

}
