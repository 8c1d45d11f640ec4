package io.timingwheel;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static io.timingwheel.interleaving.Interleavings.race;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Races of the driver thread, which is about to park, with threads that have to wake it.
 */
@ExtendWith(WheelLog.class)
class ParkRaceTests {

	static List<Arguments> holdsInEveryInterleaving() {
		return List.of(race(AddAndPark.class, 1, Long.MAX_VALUE), race(InterruptAndPark.class),
				race(AddBeforeAFarTimerAndPark.class, 1),
				// tokio #6682: wake-ups got lost in a sharded wheel.
				race(AddBeforeAFarTimerAndPark.class, 2), race(MoveToSoonerAndPark.class), race(StopAndPark.class));
	}

	@ParameterizedTest
	@MethodSource
	void holdsInEveryInterleaving(Class<? extends Race> race, Object... arguments) {
		if (race == InterruptAndPark.class) {
			Interleavings.explore(race, arguments);
		}
		else {
			Interleavings.exploreWithTwoPreemptionsAnywhere(race, arguments);
		}
	}

	/** The second timer is at the quota of its shard. */
	@Test
	void driverIsWokenWithoutTheLocksForATimerAtAQuota() {
		Interleavings.explore(AddAndPark.class, 2, 2L);
	}

	/**
	 * A wheel with a thread. The tick is so long that the time stands still, and a timer
	 * is either due now or never.
	 */
	private abstract static class WithADriverThread implements Race {

		final AtomicInteger runs = new AtomicInteger();

		Runnable driver;

		final TimingWheel wheel;

		WithADriverThread(int shards, long limit) {
			this.wheel = TimingWheel.builder(Runnable::run)
				.tick(Duration.ofDays(1))
				.wheelSize(4)
				.shards(shards)
				.maxPending(limit)
				.threadFactory((task) -> {
					this.driver = task;
					return new Thread(() -> {
					});
				})
				.build();
		}

		@Override
		public List<Runnable> threads() {
			return List.of(this.driver, this::act);
		}

		abstract void act();

		/**
		 * A task of which the last run ends the driver. If it does not run, the driver
		 * waits for ever.
		 */
		Runnable endAfter(int runs) {
			return () -> {
				if (this.runs.incrementAndGet() == runs) {
					this.wheel.stop();
				}
			};
		}

		void scheduleNow(Runnable task) {
			this.wheel.schedule(task, 0, TimeUnit.DAYS);
		}

		@Override
		public void verify() {
			assertThat(this.wheel.pending()).isZero();
		}

	}

	private static final class AddAndPark extends WithADriverThread {

		AddAndPark(int shards, long limit) {
			super(shards, limit);
		}

		@Override
		void act() {
			scheduleNow(endAfter(2));
			scheduleNow(endAfter(2));
		}

	}

	/**
	 * The thread is interrupted before it parks first, and a task leaves an interrupt. If
	 * the interrupt stayed set, the driver would never park again.
	 */
	private static final class InterruptAndPark extends WithADriverThread {

		InterruptAndPark() {
			super(1, Long.MAX_VALUE);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> {
				Thread.currentThread().interrupt();
				this.driver.run();
			}, this::act);
		}

		@Override
		void act() {
			scheduleNow(() -> {
				Thread.currentThread().interrupt();
				endAfter(2).run();
			});
			scheduleNow(endAfter(2));
		}

	}

	private static final class AddBeforeAFarTimerAndPark extends WithADriverThread {

		AddBeforeAFarTimerAndPark(int shards) {
			super(shards, Long.MAX_VALUE);
			this.wheel.schedule(() -> {
			}, 9, TimeUnit.DAYS);
		}

		@Override
		void act() {
			scheduleNow(endAfter(1));
		}

	}

	private static final class MoveToSoonerAndPark extends WithADriverThread {

		private final TimerHandle far;

		MoveToSoonerAndPark() {
			super(1, Long.MAX_VALUE);
			this.far = this.wheel.schedule(endAfter(1), 9, TimeUnit.DAYS);
		}

		@Override
		void act() {
			this.far.reschedule(0, TimeUnit.DAYS);
		}

	}

	private static final class StopAndPark extends WithADriverThread {

		StopAndPark() {
			super(1, Long.MAX_VALUE);
			this.wheel.schedule(() -> {
			}, 9, TimeUnit.DAYS);
		}

		@Override
		void act() {
			assertThat(this.wheel.stop()).hasSize(1);
		}

	}

}
