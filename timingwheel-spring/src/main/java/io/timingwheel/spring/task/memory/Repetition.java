package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.time.Instant;

import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.Recurrence;
import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The payload of a repeating task, and the times of its runs. A cron expression goes by
 * the wall clock, periods go by the wheel's clock. Between its runs the task is pending
 * like any other. During a run the task keeps its key, so that users can cancel it. The
 * map's lock of the key guards all fields.
 */
final class Repetition {

	private final Object payload;

	private final Rhythm rhythm;

	private boolean running;

	/** Whether the user has moved the next run during this one. */
	private boolean moved;

	private int attempt = 1;

	/** The time of the current run by the schedule. */
	private Instant scheduledAt = Instant.EPOCH;

	private Instant startedAt = Instant.EPOCH;

	Repetition(Object payload, Rhythm rhythm) {
		this.payload = payload;
		this.rhythm = rhythm;
	}

	Object payload() {
		return this.payload;
	}

	Schedule schedule() {
		return this.rhythm.schedule();
	}

	/**
	 * Whether the exception of a run ends the task.
	 */
	boolean endsWithFailure() {
		return this.rhythm.endsWithFailure();
	}

	/**
	 * The number of the current attempt at the run.
	 */
	int attempt() {
		return this.attempt;
	}

	boolean isRunning() {
		return this.running;
	}

	/**
	 * The deadline of the first run.
	 * @param initialDelay how long it is from now, {@code null} for the first time of the
	 * schedule
	 */
	Deadline first(@Nullable Duration initialDelay, TaskClock clock) {
		Deadline first;
		if (initialDelay != null) {
			first = clock.after(initialDelay);
		}
		else {
			Instant next = schedule().next(now(clock));
			first = (next != null) ? deadline(next, clock) : clock.after(Long.MAX_VALUE);
		}
		this.scheduledAt = time(first.dueNanos(), first.epochNanos());
		return first;
	}

	/**
	 * Records that a run begins.
	 */
	void begin(PendingTask task, TaskClock clock) {
		setRunning(task, true);
		this.moved = false;
		this.startedAt = now(clock);
	}

	/**
	 * Records whether a run is under way. During a run the task does not count as
	 * pending, though it is in the map.
	 */
	void setRunning(PendingTask task, boolean running) {
		if (this.running != running) {
			this.running = running;
			task.definition().tasks().countRepeatingRun(running ? 1 : -1);
		}
	}

	/**
	 * Records that the user has moved the next run during this one.
	 */
	void moved() {
		this.moved = true;
	}

	/**
	 * Puts the task on the wheel for another attempt, unless the next run comes first.
	 * @param delay how long from now
	 * @return whether there is another attempt
	 * @throws TaskRejectedException if the wheel refuses
	 */
	boolean tryAgain(PendingTask task, Duration delay, TaskClock clock) {
		Instant next = this.moved ? Instant.MIN : nextTime(task, clock);
		Deadline retry = clock.after(delay);
		if (next != null && !time(retry.dueNanos(), retry.epochNanos()).isBefore(next)) {
			return false;
		}
		task.start(retry);
		setRunning(task, false);
		this.attempt++;
		return true;
	}

	/**
	 * Puts the task on the wheel for its next run.
	 * @param task the task, with the deadline of this run or, if the user has moved the
	 * next run, with the deadline of the next run
	 * @return {@code false} if there is no further run
	 * @throws TaskRejectedException if the wheel refuses
	 */
	boolean scheduleNextRun(PendingTask task, TaskClock clock) {
		Deadline next = this.moved ? task.deadline() : next(nextTime(task, clock), clock);
		if (next != null) {
			task.start(next);
		}
		setRunning(task, false);
		this.attempt = 1;
		return next != null;
	}

	/**
	 * Moves a task whose times are those of the wall clock, after somebody has set that
	 * clock.
	 * @return {@code false} if the task stays where it is
	 */
	boolean wallClockSet(PendingTask task, TaskClock clock) {
		if (this.running || !schedule().isCron()) {
			return false;
		}
		Deadline next = next(schedule().next(now(clock)), clock);
		return next != null && task.move(task.definition(), next);
	}

	private @Nullable Instant nextTime(PendingTask task, TaskClock clock) {
		return new Recurrence(this.scheduledAt, time(task.dueNanos(), task.dueEpochNanos()), this.startedAt)
			.next(schedule(), this.rhythm.missed(), now(clock));
	}

	private @Nullable Deadline next(@Nullable Instant next, TaskClock clock) {
		if (next == null) {
			return null;
		}
		this.scheduledAt = next;
		return deadline(next, clock);
	}

	/**
	 * When the next regular run is due, by the wall clock. For operators, who may read
	 * this without the lock.
	 * @param task the task, with the deadline of the next run or attempt or, during a
	 * run, with the deadline of this run
	 * @return the time, {@code null} if it depends on the end of the run
	 */
	@Nullable Instant regularTime(PendingTask task, TaskClock clock) {
		Instant dueAt = time(task.dueNanos(), task.dueEpochNanos());
		Instant next = this.scheduledAt;
		boolean begun = this.running || this.attempt > 1;
		if (next.isBefore(dueAt) || (begun && next.equals(dueAt))) {
			next = schedule().isFixedDelay() ? null : schedule().next(next, dueAt);
		}
		if (next == null) {
			return null;
		}
		return TaskClock.toInstant(next.equals(dueAt) ? task.dueEpochNanos() : deadline(next, clock).epochNanos());
	}

	private Instant now(TaskClock clock) {
		long now = clock.nanoTime();
		return time(now, clock.epochNanos(now));
	}

	private Instant time(long nanos, long epochNanos) {
		return TaskClock.toInstant(schedule().isCron() ? epochNanos : nanos);
	}

	private Deadline deadline(Instant time, TaskClock clock) {
		if (schedule().isCron()) {
			return clock.at(time);
		}
		long now = clock.nanoTime();
		long delay = TaskClock.nanos(Duration.between(TaskClock.toInstant(now), time));
		return new Deadline(delay, now + delay, TaskClock.add(clock.epochNanos(now), delay), false);
	}

	/**
	 * When a task repeats.
	 *
	 * @param schedule its times
	 * @param missed what becomes of the times that pass during a run
	 * @param endsWithFailure whether the exception of a run ends the task
	 */
	record Rhythm(Schedule schedule, Missed missed, boolean endsWithFailure) {

	}

}
