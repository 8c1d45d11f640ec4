package io.timingwheel.spring.task.support;

import java.time.Duration;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.TaskRejectedException;

/**
 * The payload of a repeating task, which has several runs. Between its runs the task is
 * pending like any other. During a run the task keeps its key, so that users can cancel
 * it. The map's lock of the key guards all fields.
 */
final class Repetition {

	private final Object payload;

	private final Rhythm rhythm;

	private boolean running;

	private boolean moved;

	private int attempt = 1;

	Repetition(Object payload, Rhythm rhythm) {
		this.payload = payload;
		this.rhythm = rhythm;
	}

	Object payload() {
		return this.payload;
	}

	Rhythm rhythm() {
		return this.rhythm;
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

	void begin(PendingTask task, TaskClock clock) {
		this.running = true;
		this.moved = false;
		this.rhythm.begin(task, clock);
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
		Deadline due = this.moved ? null : this.rhythm.retry(task, delay, clock);
		if (due != null) {
			task.start(due);
			this.running = false;
			this.attempt++;
		}
		return due != null;
	}

	/**
	 * Puts the task on the wheel for its next run.
	 * @param task the task, with the deadline of this run or, if the user has moved the
	 * next run, with the deadline of the next run
	 * @param clock tells the time
	 * @return {@code false} if there is no further run
	 * @throws TaskRejectedException if the wheel refuses
	 */
	boolean scheduleNextRun(PendingTask task, TaskClock clock) {
		this.running = false;
		this.attempt = 1;
		Deadline next = this.moved ? task.deadline() : this.rhythm.next(task, clock);
		if (next != null) {
			task.start(next);
		}
		return next != null;
	}

	/**
	 * Moves a task whose times are those of the wall clock, after somebody has set that
	 * clock.
	 * @return {@code false} if the task stays where it is
	 */
	boolean wallClockSet(PendingTask task, TaskClock clock) {
		Deadline next = this.running ? null : this.rhythm.wallClockSet(clock);
		return next != null && task.move(task.definition(), next);
	}

	@Nullable String schedule() {
		return (this.rhythm instanceof ScheduleRhythm) ? this.rhythm.toString() : null;
	}

	/**
	 * When the next regular run is due, by the wall clock. For operators, who may read
	 * this without the lock.
	 * @param task the task
	 * @param clock tells the time
	 * @return the time; {@code null} without a schedule, or if this depends on the end of
	 * the present run
	 */
	@Nullable Instant next(PendingTask task, TaskClock clock) {
		return (this.rhythm instanceof ScheduleRhythm schedule)
				? schedule.regularTime(task, this.running || this.attempt > 1, clock) : null;
	}

}
