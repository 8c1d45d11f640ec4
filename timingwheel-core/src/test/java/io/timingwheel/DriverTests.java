package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link Driver}, turn by turn, also at times that a thread has overslept.
 */
class DriverTests {

	@RegisterExtension
	final WheelLog log = new WheelLog();

	private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

	/** This clock drives no wheel. The test calls the driver. */
	private final ManualTimeSource clock = new ManualTimeSource();

	private final WheelClock time = new WheelClock(this.clock, MILLI);

	private final List<Shard> all = new ArrayList<>();

	private final WaitingTimers waiting = new WaitingTimers();

	private final Shards shards = new Shards(2, Long.MAX_VALUE, this::newShard);

	private final Driver driver = new Driver(this.time, this.shards, Runnable::run, new TaskErrors(TaskErrors::log),
			this.waiting, true);

	private final List<Long> fired = new ArrayList<>();

	private Shard newShard(int index) {
		Shard shard = new Shard.Padded(this.time, new Alarm(), new TaskErrors(TaskErrors::log), this.waiting,
				new Wheel(256, MILLI));
		this.all.add(shard);
		return shard;
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
	void slotThatACancelHasEmptiedMakesNoLaterTimerFireEarly() {
		Timer cancelled = schedule(0, 50);
		schedule(0, 100);
		schedule(1, 60);
		cancelled.cancel();
		this.clock.advance(Duration.ofMillis(200));
		catchUp();
		assertThat(this.fired).containsExactly(60L, 100L);
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
		assertThat(this.shards.pending()).isZero();
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
			while (tick >= slot - 5 && this.driver.nextDue() <= tick) {
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

	/**
	 * The step fails as in the test below, and then the pause fails, too.
	 */
	@Test
	void driverWhoseThreadHasEndedRejectsTimersAndStillReturnsTheOthers() {
		Driver failing = new Driver(this.time, this.shards, (timer) -> {
			timer.run();
			throw new IllegalStateException("on purpose");
		}, null, this.waiting, true);
		schedule(0, 50);
		schedule(0, 90);
		this.clock.advance(Duration.ofMillis(50));
		DriverThread thread = new DriverThread(failing, this.time, new Alarm(), Thread::new) {

			@Override
			void pauseFor(long nanos) {
				throw new IllegalStateException("no pause");
			}

		};
		assertThatIllegalStateException().isThrownBy(thread::run).withMessage("no pause");
		assertThat(failing.isStopped()).isTrue();
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> schedule(1, 50));
		List<Runnable> returned = new ArrayList<>();
		failing.stop(returned, 0);
		assertThat(returned).hasSize(1);
		assertThat(this.fired).containsExactly(50L);
	}

	/**
	 * The task has begun, so its exception goes to the error handler. A driver without
	 * one fails.
	 */
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
		}, null, this.waiting, true);
		schedule(0, 50);
		this.clock.advance(Duration.ofMillis(50));
		assertThatExceptionOfType(NullPointerException.class).isThrownBy(() -> {
			for (int i = 0; i < 100; i++) {
				this.clock.advance(Duration.ofMillis(1));
				failing.turn();
			}
		});
		assertThat(Thread.interrupted()).isFalse();
		assertThat(calls).hasValue(refusedBefore ? 2 : 1);
		assertThat(this.fired).containsExactly(50L);
	}

	/**
	 * The pauses are 10, 20, 40, 80 and 160 ms.
	 */
	@Test
	void threadPausesAfterAFailureThoughItWasInterrupted() {
		int count = 6;
		List<Long> failedAt = new ArrayList<>();
		AtomicReference<Driver> driver = new AtomicReference<>();
		driver.set(new Driver(this.time, this.shards, (timer) -> {
			timer.run();
			failedAt.add(System.nanoTime());
			if (failedAt.size() == count) {
				driver.get().stop(new ArrayList<>(), 0);
			}
			Thread.currentThread().interrupt();
			throw new IllegalStateException("on purpose");
		}, null, this.waiting, false));
		for (int i = 0; i < count; i++) {
			schedule(0, 50);
		}
		this.clock.advance(Duration.ofMillis(50));
		new DriverThread(driver.get(), this.time, new Alarm(), Thread::new).run();
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
		Timer timer = new Timer(this.all.get(shard), () -> this.fired.add(tick), tick);
		this.all.get(shard).add(timer, tick);
		return timer;
	}

}
