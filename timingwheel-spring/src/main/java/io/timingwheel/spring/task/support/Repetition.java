package io.timingwheel.spring.task.support;

import org.springframework.core.task.TaskRejectedException;

/**
 * The payload of a periodic task. Between its runs the task is pending like any other.
 * During a run the task keeps its key, so that users can cancel it. The map's lock of the
 * key guards all fields.
 */
final class Repetition {

	private final Object payload;

	private final long periodNanos;

	private final boolean fixedRate;

	private boolean running;

	private boolean moved;

	Repetition(Object payload, long periodNanos, boolean fixedRate) {
		this.payload = payload;
		this.periodNanos = Math.min(periodNanos, Long.MAX_VALUE >> 1);
		this.fixedRate = fixedRate;
	}

	Object payload() {
		return this.payload;
	}

	boolean isRunning() {
		return this.running;
	}

	void begin() {
		this.running = true;
		this.moved = false;
	}

	/**
	 * Records that the user has moved the next run during this one.
	 */
	void moved() {
		this.moved = true;
	}

	/**
	 * Puts the task on the wheel for its next run.
	 * @param task the task, with the deadline of this run or, if the user has moved the
	 * next run, with the deadline of the next run
	 * @param clock tells the time
	 * @throws TaskRejectedException if the wheel refuses
	 */
	void startNext(PendingTask task, TaskClock clock) {
		long nowNanos = clock.nanoTime();
		this.running = false;
		long dueNanos = task.dueNanos();
		long dueEpochNanos = task.dueEpochNanos();
		if (!this.moved) {
			// A fixed rate counts from the deadline, so that lateness does not add up.
			dueNanos = (this.fixedRate ? dueNanos : nowNanos) + this.periodNanos;
			dueEpochNanos = TaskClock.add(this.fixedRate ? dueEpochNanos : clock.epochNanos(nowNanos),
					this.periodNanos);
		}
		task.start(new Deadline(dueNanos - nowNanos, dueNanos, dueEpochNanos, false));
	}

}
