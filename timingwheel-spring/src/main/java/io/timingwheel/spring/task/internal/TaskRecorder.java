package io.timingwheel.spring.task.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Counts the tasks of one name: those in memory and those that are kept in a store.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class TaskRecorder {

	private static final Log logger = LogFactory.getLog(TaskRecorder.class);

	/** Called when the number of running or pending tasks has changed. */
	private final Runnable onChange;

	private final LongAdder begun = new LongAdder();

	private final LongAdder ended = new LongAdder();

	private final LongAdder completed = new LongAdder();

	private final LongAdder failed = new LongAdder();

	private final LongAdder cancelled = new LongAdder();

	private final LongAdder expired = new LongAdder();

	private final LongAdder replaced = new LongAdder();

	private final LongAdder superseded = new LongAdder();

	private final AtomicBoolean warned = new AtomicBoolean();

	/** {@code null} if nobody asks for the times. */
	private volatile @Nullable ExecutionTimes times;

	/**
	 * Creates a recorder whose counts are 0.
	 * @param onChange called when a task has ended
	 */
	public TaskRecorder(Runnable onChange) {
		this.onChange = onChange;
	}

	/**
	 * Adds a listener for the times of the executions that end from now on.
	 * @param listener takes the times
	 */
	public synchronized void onExecution(ExecutionTimes listener) {
		ExecutionTimes earlier = this.times;
		this.times = (earlier == null) ? listener : (lateness, duration) -> {
			tell(earlier, lateness, duration);
			tell(listener, lateness, duration);
		};
	}

	/**
	 * Tells the listeners the times of an execution that has ended. The exception of a
	 * listener is logged only, since the task has to be settled.
	 * @param latenessNanos how long after its due time the task has begun
	 * @param beganAt when the task has begun
	 * @param clock the clock of that time, read only if there is a listener
	 */
	public void executed(long latenessNanos, long beganAt, LongSupplier clock) {
		ExecutionTimes times = this.times;
		if (times != null) {
			tell(times, latenessNanos, clock.getAsLong() - beganAt);
		}
	}

	private void tell(ExecutionTimes listener, long latenessNanos, long durationNanos) {
		try {
			listener.executed(latenessNanos, durationNanos);
		}
		catch (Throwable ex) {
			UserErrors.warnOnce(logger, this.warned, "A meter or listener of executions threw an exception", ex);
		}
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
		// So a count of running tasks that is zero comes after all outcomes.
		increment(outcome);
		this.ended.increment();
		this.onChange.run();
	}

	/**
	 * Stops counting a task as running, since another node may run it.
	 */
	public void abandoned() {
		this.ended.increment();
		this.onChange.run();
	}

	/**
	 * Counts a task that has ended and never began.
	 * @param outcome how it ended
	 */
	public void count(TaskOutcome outcome) {
		increment(outcome);
		this.onChange.run();
	}

	/**
	 * Counts an outcome, and tells nobody.
	 * @param outcome how a task has ended
	 */
	public void increment(TaskOutcome outcome) {
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
	 * @return the number
	 */
	public long running() {
		// Because of this order the result may be too high for a moment, but never too
		// low.
		long ended = this.ended.sum();
		return this.begun.sum() - ended;
	}

	/**
	 * The figures at this moment.
	 * @param pending how many tasks are pending
	 * @return the figures
	 */
	public TaskCounts counts(long pending) {
		return new TaskCounts(pending, running(), this.completed.sum(), this.failed.sum(), this.cancelled.sum(),
				this.expired.sum(), this.replaced.sum(), this.superseded.sum());
	}

	/**
	 * Takes the times of the executions of a name. Called on the thread of each
	 * execution, before its outcome is counted. Must be fast and must not throw.
	 *
	 * @since 0.1
	 */
	@FunctionalInterface
	public interface ExecutionTimes {

		/**
		 * Takes the times of an execution that has ended.
		 * @param latenessNanos how long after its due time the task has begun, in
		 * nanoseconds
		 * @param durationNanos how long it took, in nanoseconds; if the body has returned
		 * a future, until that future was done
		 */
		void executed(long latenessNanos, long durationNanos);

	}

}
