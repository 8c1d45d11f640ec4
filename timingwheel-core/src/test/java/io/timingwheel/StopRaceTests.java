package io.timingwheel;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Races of stop with the other operations. */
@ExtendWith(WheelLog.class)
class StopRaceTests {

	/**
	 * In the last one, stop does not wait, and reads the batch that the driver is using.
	 */
	@ParameterizedTest
	@ValueSource(classes = { AddAndStop.class, FireAndStop.class, FireAndGiveUp.class })
	void holdsInEveryInterleaving(Class<? extends Race> race) {
		Interleavings.explore(race);
	}

	@ParameterizedTest
	@ValueSource(classes = { AddAndStop.class, CancelAndStop.class, MoveToSoonerAndStop.class, StopAndRun.class,
			StopAndCountAndRun.class })
	void holdsWithTwoPreemptionsAnywhere(Class<? extends Race> race) {
		Interleavings.exploreWithTwoPreemptionsAnywhere(race);
	}

	/**
	 * The other thread begins and is preempted, before stop returns the task and is
	 * preempted.
	 */
	@Test
	void taskThatBeginsWhileStopReturnsItHasOneOutcome() {
		Interleavings.exploreWithThreePreemptionsAtSynchronization(StopAndRun.class);
	}

	private static final class AddAndStop extends ManualClockRace {

		private TimerHandle added;

		private List<Runnable> returned;

		AddAndStop() {
			schedule(1);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> {
				try {
					this.added = schedule(2);
				}
				catch (RejectedExecutionException ex) {
					this.added = null;
				}
			}, () -> this.returned = this.wheel.stop());
		}

		@Override
		public void verify() {
			assertThat(this.returned).hasSize((this.added != null) ? 2 : 1);
			assertThat(this.added == null || !this.added.isPending()).isTrue();
			advance(100);
			assertThat(this.runs).hasValue(0);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	/**
	 * One thread ends or moves a timer while stop removes the neighbours of the timer.
	 */
	private static class CancelAndStop extends TimerRace {

		List<Runnable> returned;

		CancelAndStop() {
			super(false, 37, 0, 0);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> this.done = act(), () -> this.returned = this.wheel.stop());
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			assertThat(this.returned).hasSize(this.done ? 2 : 3);
			advance(100);
			assertThat(this.runs).hasValue(0);
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	private static final class MoveToSoonerAndStop extends CancelAndStop {

		@Override
		boolean act() {
			this.timer.reschedule(1, TimeUnit.MILLISECONDS);
			return false;
		}

	}

	static class FireAndStop extends ManualClockRace {

		private List<Runnable> returned;

		private int runsAtStop;

		FireAndStop() {
			schedule(1);
			schedule(1);
			schedule(2);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(2), () -> {
				this.returned = this.wheel.stop();
				this.runsAtStop = this.runs.get();
			});
		}

		@Override
		public void verify() {
			advance(5_000);
			assertThat(this.returned.size() + this.runs.get()).isEqualTo(3);
			assertThat(this.runs).as("runs after stop").hasValue(this.runsAtStop);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	/**
	 * Stop does not wait for the batch in hand. The executor refuses the second timer
	 * once.
	 */
	private static final class FireAndGiveUp extends ManualClockRace {

		private List<Runnable> returned;

		private boolean refused;

		FireAndGiveUp() {
			schedule(1);
			schedule(1).reschedule(2, TimeUnit.MILLISECONDS);
			schedule(1);
		}

		@Override
		WheelBuilder configure(WheelBuilder builder) {
			builder.stopWait = Duration.ZERO;
			return builder;
		}

		@Override
		void execute(Runnable task) {
			if (this.runs.get() == 1 && !this.refused) {
				this.refused = true;
				throw new RejectedExecutionException("on purpose");
			}
			task.run();
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(2), () -> this.returned = this.wheel.stop());
		}

		@Override
		public void verify() {
			advance(5_000);
			WheelSnapshot snapshot = this.wheel.snapshot();
			assertThat(snapshot.pending()).isZero();
			assertThat(snapshot.returned()).isEqualTo(this.returned.size());
			assertThat(snapshot.fired()).isEqualTo(this.runs.get());
			// A timer whose hand-over was refused after the stop counts as cancelled.
			assertThat(snapshot.cancelled()).isLessThanOrEqualTo(2);
			assertThat(snapshot.returned() + snapshot.fired() + snapshot.cancelled()).isEqualTo(3);
		}

	}

	/**
	 * The executor gives the task to another thread, which runs it, and stops the wheel.
	 */
	private static class StopAndRun extends ManualClockRace {

		private final AtomicReference<Runnable> given = new AtomicReference<>();

		private List<Runnable> returned;

		StopAndRun() {
			schedule(1);
		}

		@Override
		void execute(Runnable task) {
			this.given.set(task);
			this.returned = this.wheel.stop();
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(1), this::run);
		}

		void run() {
			Runnable task = this.given.get();
			if (task != null) {
				task.run();
			}
		}

		@Override
		public void verify() {
			assertThat(this.returned.size() + this.runs.get()).isLessThanOrEqualTo(1);
			this.given.get().run();
			assertThat(this.returned.size() + this.runs.get()).isEqualTo(1);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	private static final class StopAndCountAndRun extends StopAndRun {

		@Override
		void run() {
			assertThat(this.wheel.pending()).isBetween(0L, 1L);
			super.run();
		}

	}

}
