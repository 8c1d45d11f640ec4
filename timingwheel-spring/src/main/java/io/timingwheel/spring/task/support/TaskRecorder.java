package io.timingwheel.spring.task.support;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the tasks of one name: those in memory and those that are kept in a store.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class TaskRecorder {

	private final ShutdownState shutdown;

	private final LongAdder begun = new LongAdder();

	private final LongAdder ended = new LongAdder();

	private final LongAdder completed = new LongAdder();

	private final LongAdder failed = new LongAdder();

	private final LongAdder cancelled = new LongAdder();

	private final LongAdder expired = new LongAdder();

	private final LongAdder replaced = new LongAdder();

	private final LongAdder superseded = new LongAdder();

	TaskRecorder(ShutdownState shutdown) {
		this.shutdown = shutdown;
	}

	/**
	 * Counts a body that begins.
	 */
	public void begun() {
		this.begun.increment();
	}

	/**
	 * Counts the end of a task that had begun.
	 * @param outcome how it ended
	 */
	public void ended(TaskOutcome outcome) {
		this.ended.increment();
		count(outcome);
	}

	/**
	 * Stops counting a task as running, since another node may run it.
	 */
	public void abandoned() {
		this.ended.increment();
		this.shutdown.changed();
	}

	/**
	 * Counts a task that has ended and never began.
	 * @param outcome how it ended
	 */
	public void count(TaskOutcome outcome) {
		increment(outcome);
		this.shutdown.changed();
	}

	/**
	 * Counts an outcome, and does not notify a shutdown that waits.
	 */
	void increment(TaskOutcome outcome) {
		switch (outcome) {
			case COMPLETED -> this.completed.increment();
			case FAILED -> this.failed.increment();
			case CANCELLED -> this.cancelled.increment();
			case EXPIRED -> this.expired.increment();
			case REPLACED -> this.replaced.increment();
			case SUPERSEDED -> this.superseded.increment();
		}
	}

	/**
	 * How many tasks have begun and not ended.
	 */
	long running() {
		// Because of this order the result may be too high for a moment, but never too
		// low.
		long ended = this.ended.sum();
		return this.begun.sum() - ended;
	}

	TaskCounts counts(long pending) {
		return new TaskCounts(pending, running(), this.completed.sum(), this.failed.sum(), this.cancelled.sum(),
				this.expired.sum(), this.replaced.sum(), this.superseded.sum());
	}

}
