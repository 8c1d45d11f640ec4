package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Races of an executor that refuses a timer with the other operations. */
@ExtendWith(WheelLog.class)
class RefusalRaceTests {

	@ParameterizedTest
	@ValueSource(classes = { RefuseAndCancel.class, RefuseAndMove.class, RefuseAndStop.class, RefuseAndRun.class,
			RefuseAndRunAndCancel.class, MoveWaitingAndStop.class })
	void holdsInEveryInterleaving(Class<? extends Race> race) {
		Interleavings.explore(race);
	}

	/** The executor refuses each timer once. */
	private static final class RefuseAndStop extends StopRaceTests.FireAndStop {

		private int refused;

		@Override
		void execute(Runnable task) {
			if (this.refused < 2) {
				this.refused++;
				throw new RejectedExecutionException("on purpose");
			}
			task.run();
		}

	}

	/** A race of a timer whose executor refuses it some times. */
	private abstract static class RefusalRace extends TimerRace {

		private int refusals;

		RefusalRace(int refusals, long by) {
			super(false, 1, 0, by);
			this.refusals = refusals;
		}

		@Override
		void execute(Runnable task) {
			if (this.refusals > 0) {
				this.refusals--;
				throw new RejectedExecutionException("on purpose");
			}
			task.run();
		}

	}

	private static final class RefuseAndCancel extends RefusalRace {

		RefuseAndCancel() {
			super(3, 1);
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			advance(5_000);
			assertThat(this.runs).hasValue(this.done ? 0 : 1);
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	private static final class RefuseAndMove extends RefusalRace {

		RefuseAndMove() {
			super(2, 6);
		}

		@Override
		boolean act() {
			return this.timer.reschedule(20, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			advance(5_000);
			assertThat(this.runs).hasValue(1);
			if (this.done) {
				assertThat(this.ranAt).isGreaterThanOrEqualTo(20);
			}
			assertEmptyAfter(3, 0);
		}

	}

	/**
	 * One thread moves a timer that waits for its executor, while another one stops the
	 * wheel.
	 */
	private static final class MoveWaitingAndStop extends RefusalRace {

		private List<Runnable> returned;

		MoveWaitingAndStop() {
			super(Integer.MAX_VALUE, 0);
			advance(1);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> this.done = act(), () -> this.returned = this.wheel.stop());
		}

		@Override
		boolean act() {
			return this.timer.reschedule(20, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			assertThat(this.returned).hasSize(3);
			assertThat(this.timer.isPending()).isFalse();
			assertEmptyAfter(3, 0);
		}

	}

	/** The executor keeps the task and throws, while another thread runs the task. */
	private static class RefuseAndRun extends ManualClockRace {

		final TimerHandle timer = schedule(1);

		private final AtomicReference<Runnable> kept = new AtomicReference<>();

		@Override
		void execute(Runnable task) {
			if (this.kept.compareAndSet(null, task)) {
				throw new RejectedExecutionException("on purpose");
			}
			task.run();
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(1), () -> {
				Runnable task = this.kept.get();
				if (task != null) {
					task.run();
				}
			});
		}

		@Override
		public void verify() {
			assertThat(this.timer.isPending()).as("pending unless the task ran").isEqualTo(this.runs.get() == 0);
			advance(5_000);
			assertThat(this.runs).hasValue(1);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	private static final class RefuseAndRunAndCancel extends RefuseAndRun {

		private boolean cancelled;

		@Override
		public List<Runnable> threads() {
			List<Runnable> threads = new ArrayList<>(super.threads());
			threads.add(() -> this.cancelled = this.timer.cancel());
			return threads;
		}

		@Override
		public void verify() {
			advance(5_000);
			assertThat(this.runs).hasValue(this.cancelled ? 0 : 1);
			assertThat(this.wheel.pending()).isZero();
		}

	}

}
