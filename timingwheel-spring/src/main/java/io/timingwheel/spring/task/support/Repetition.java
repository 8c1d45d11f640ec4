package io.timingwheel.spring.task.support;

import org.springframework.core.task.TaskRejectedException;

/**
 * What a periodic task was given. Between its runs it is pending like any other task.
 * While it runs it keeps its key, so that it can be called off; guarded by the map's lock
 * of the key.
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
	 * The deadline of the next run was set by hand during this one.
	 */
	void moved() {
		this.moved = true;
	}

	/**
	 * Puts the task on the wheel for its next run.
	 * @param task the task, with the deadline of this run, unless it was moved
	 * @param clock the time
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
			dueEpochNanos = Nanos.add(this.fixedRate ? dueEpochNanos : clock.epochNanos(nowNanos), this.periodNanos);
		}
		task.start(new Deadline(dueNanos - nowNanos, dueNanos, dueEpochNanos, false));
	}

}
