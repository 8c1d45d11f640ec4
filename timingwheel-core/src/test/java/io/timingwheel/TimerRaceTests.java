package io.timingwheel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.timingwheel.interleaving.Interleavings.race;
import static org.assertj.core.api.Assertions.assertThat;

/** Races of the operations on a timer with its expiry and with each other. */
@ExtendWith(WheelLog.class)
class TimerRaceTests {

	/** In a cascade, the slot of level 2 that begins at 32 cascades through level 1. */
	static List<Arguments> holdsInEveryInterleaving() {
		return List.of(race(CancelAndFire.class, false, 1, 0, 1), race(CancelAndFire.class, true, 1, 0, 1),
				race(CancelAndFire.class, false, 37, 31, 2), race(MoveAndCancel.class),
				// to later
				race(MoveAndFire.class, false, 1, 0, 1, 3), race(MoveAndFire.class, true, 1, 0, 1, 3),
				race(MoveAndFire.class, false, 37, 31, 6, 20), race(MoveToDeadlineAndFire.class, 1, 0, 1, 3),
				// to sooner, perhaps to a deadline that has passed
				race(MoveAndFire.class, false, 3, 0, 3, 1), race(MoveAndFire.class, false, 37, 31, 6, 3),
				race(MoveToDeadlineAndFire.class, 3, 0, 3, 1), race(MoveToDeadlineAndFire.class, 37, 31, 6, 3),
				// Both moves need the lock, none of them, or one of them.
				race(MoveAndMove.class, 17), race(MoveAndMove.class, 1), race(MoveAndMove.class, 5),
				race(AddAndAdvance.class), race(AddDeadlineAndAdvance.class), race(TellBeforeAdding.class));
	}

	@ParameterizedTest
	@MethodSource
	void holdsInEveryInterleaving(Class<? extends Race> race, Object... arguments) {
		Interleavings.explore(race, arguments);
	}

	@ParameterizedTest
	@ValueSource(ints = { 17, 1 })
	void movesHoldWithTwoPreemptionsAnywhere(int delay) {
		Interleavings.exploreWithTwoPreemptionsAnywhere(MoveAndMove.class, delay);
	}

	private static final class CancelAndFire extends TimerRace {

		CancelAndFire(boolean direct, long delay, long passed, long by) {
			super(direct, delay, passed, by);
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			advance(100);
			assertThat(this.runs).hasValue(this.done ? 0 : 1);
			assertThat(this.timer.isCancelled()).isEqualTo(this.done);
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	private static class MoveAndFire extends TimerRace {

		final long newDelay;

		/**
		 * A lower bound, since the clock may advance between the reading and the move.
		 */
		long earliest;

		MoveAndFire(boolean direct, long delay, long passed, long by, long newDelay) {
			super(direct, delay, passed, by);
			this.newDelay = newDelay;
		}

		@Override
		boolean act() {
			this.earliest = now() + this.newDelay;
			return this.timer.reschedule(this.newDelay, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			if (this.done) {
				if (this.runs.get() == 0) {
					advance(this.newDelay);
				}
				assertThat(this.ranAt).isGreaterThanOrEqualTo(this.earliest);
			}
			assertThat(this.runs).hasValue(1);
			assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(this.done ? 1 : 0);
			advance(100);
			assertThat(this.runs).hasValue(1);
			assertEmptyAfter(3, 0);
		}

	}

	/** The clock was read before. */
	private static final class MoveToDeadlineAndFire extends MoveAndFire {

		MoveToDeadlineAndFire(long delay, long passed, long by, long newDelay) {
			super(false, delay, passed, by, newDelay);
		}

		@Override
		boolean act() {
			this.earliest = now() + this.newDelay;
			return this.timer.rescheduleAt(TimeUnit.MILLISECONDS.toNanos(this.earliest));
		}

	}

	private static final class MoveAndCancel extends TimerRace {

		private boolean sooner;

		private boolean later;

		private boolean afterCancel;

		MoveAndCancel() {
			super(false, 3, 0, 3);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> {
				this.done = act();
				this.afterCancel = this.done && this.timer.reschedule(1, TimeUnit.MILLISECONDS);
			}, () -> {
				this.sooner = this.timer.reschedule(1, TimeUnit.MILLISECONDS);
				this.later = this.timer.reschedule(5, TimeUnit.MILLISECONDS);
			}, () -> advance(3));
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			assertThat(this.afterCancel).isFalse();
			advance(100);
			assertThat(this.runs).hasValue(this.done ? 0 : 1);
			assertThat(this.wheel.snapshot().rescheduled()).isEqualTo((this.sooner ? 1 : 0) + (this.later ? 1 : 0));
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	/**
	 * The last move decides. The test does not know which move is the last, so either
	 * deadline is right.
	 */
	private static final class MoveAndMove extends TimerRace {

		private boolean other;

		MoveAndMove(long delay) {
			super(false, delay, 0, 0);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> this.done = act(), () -> this.other = this.timer.reschedule(6, TimeUnit.MILLISECONDS));
		}

		@Override
		boolean act() {
			return this.timer.reschedule(3, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			assertThat(this.done && this.other).isTrue();
			assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(2);
			long remaining = this.timer.remaining(TimeUnit.MILLISECONDS);
			assertThat(remaining).isIn(3L, 6L);
			advance(remaining);
			assertThat(this.ranAt).isEqualTo(remaining);
			advance(100);
			assertThat(this.runs).hasValue(1);
			assertEmptyAfter(3, 0);
		}

	}

	private static final class AddAndAdvance extends ManualClockRace {

		private final List<String> order = new ArrayList<>();

		AddAndAdvance() {
			this.wheel.schedule(() -> add("first"), 5, TimeUnit.MILLISECONDS);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(5), () -> {
				long deadline = now() + 5;
				this.wheel.schedule(() -> {
					assertThat(now()).isGreaterThanOrEqualTo(deadline);
					add("second");
				}, 5, TimeUnit.MILLISECONDS);
				this.wheel.schedule(() -> add("now"), 0, TimeUnit.MILLISECONDS);
			});
		}

		private synchronized void add(String name) {
			this.order.add(name);
		}

		@Override
		public void verify() {
			advance(0);
			assertThat(this.order).contains("now", "first");
			advance(5);
			assertThat(this.order).containsExactlyInAnyOrder("first", "second", "now")
				.containsSubsequence("first", "second");
			assertEmptyAfter(3, 0);
		}

	}

	/**
	 * The clock of the wheel is far behind the present time, and no caller reads the
	 * time.
	 */
	private static final class AddDeadlineAndAdvance extends ManualClockRace {

		private volatile long deadline;

		AddDeadlineAndAdvance() {
			advance(30);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(5), () -> {
				this.deadline = now() + 2;
				this.wheel.scheduleAt(task(), TimeUnit.MILLISECONDS.toNanos(this.deadline));
			});
		}

		@Override
		public void verify() {
			if (this.runs.get() == 0) {
				advance(2);
			}
			assertThat(this.runs).hasValue(1);
			assertThat(this.ranAt).isGreaterThanOrEqualTo(this.deadline);
			assertEmptyAfter(1, 0);
		}

	}

	/**
	 * The task sees all writes that came before the schedule call, without a lock of its
	 * own.
	 */
	private static final class TellBeforeAdding extends ManualClockRace {

		private String told;

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(1), () -> {
				this.told = "told";
				this.wheel.schedule(() -> {
					assertThat(this.told).isEqualTo("told");
					this.runs.incrementAndGet();
				}, 0, TimeUnit.MILLISECONDS);
			});
		}

		@Override
		public void verify() {
			advance(0);
			assertThat(this.runs).hasValue(1);
		}

	}

}
