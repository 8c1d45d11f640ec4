package io.timingwheel.spring.task.support;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The times at which a repeating task runs. The map's lock of the task's key guards its
 * state.
 */
interface Rhythm {

	/**
	 * Records that a run begins.
	 * @param task the task
	 * @param clock tells the time
	 */
	default void begin(PendingTask task, TaskClock clock) {
	}

	/**
	 * The deadline of the next run.
	 * @param task the task, with the deadline of the run that has ended
	 * @param clock tells the time
	 * @return the deadline, {@code null} if there is no further run
	 */
	@Nullable Deadline next(PendingTask task, TaskClock clock);

	/**
	 * The deadline of another attempt at a run that has failed.
	 * @param task the task, with the deadline of the failed attempt
	 * @param delay how long from now
	 * @param clock tells the time
	 * @return the deadline, {@code null} if the next run comes first
	 */
	default @Nullable Deadline retry(PendingTask task, Duration delay, TaskClock clock) {
		return null;
	}

	/**
	 * Whether the exception of a run ends the task.
	 */
	default boolean endsWithFailure() {
		return true;
	}

	/**
	 * The deadline of the next run after somebody has set the wall clock.
	 * @param clock tells the time
	 * @return the deadline, {@code null} if the wall clock does not matter
	 */
	default @Nullable Deadline wallClockSet(TaskClock clock) {
		return null;
	}

	/**
	 * A fixed period.
	 *
	 * @param periodNanos the period
	 * @param fixedRate whether the period is the time between the due times of two runs
	 * rather than the time from the end of a run to the next run
	 */
	record FixedPeriod(long periodNanos, boolean fixedRate) implements Rhythm {

		public FixedPeriod {
			periodNanos = Math.min(periodNanos, Long.MAX_VALUE >> 1);
		}

		@Override
		public Deadline next(PendingTask task, TaskClock clock) {
			long now = clock.nanoTime();
			// A fixed rate counts from the deadline, so that lateness does not add up.
			long due = (this.fixedRate ? task.dueNanos() : now) + this.periodNanos;
			long dueEpoch = TaskClock.add(this.fixedRate ? task.dueEpochNanos() : clock.epochNanos(now),
					this.periodNanos);
			return new Deadline(due - now, due, dueEpoch, false);
		}

	}

}
