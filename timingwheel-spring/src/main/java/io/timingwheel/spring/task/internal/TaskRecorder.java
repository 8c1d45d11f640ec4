package io.timingwheel.spring.task.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Counts the tasks of one name, in memory and in a store. Thread-safe. */
public final class TaskRecorder {

	private static final Log logger = LogFactory.getLog(TaskRecorder.class);

	private final LongAdder begun = new LongAdder();

	private final LongAdder ended = new LongAdder();

	/** By the ordinals of the outcomes. */
	private final LongAdder[] outcomes = Stream.generate(LongAdder::new)
		.limit(TaskOutcome.values().length)
		.toArray(LongAdder[]::new);

	private final AtomicBoolean warned = new AtomicBoolean();

	private final List<ExecutionTimes> listeners = new CopyOnWriteArrayList<>();

	public void onExecution(ExecutionTimes listener) {
		this.listeners.add(listener);
	}

	/** Tells the listeners, whose exceptions are only logged. */
	public void executed(long latenessNanos, long beganAt, LongSupplier clock) {
		for (ExecutionTimes listener : this.listeners) {
			try {
				listener.executed(latenessNanos, clock.getAsLong() - beganAt);
			}
			catch (Throwable ex) {
				UserErrors.warnOnce(logger, this.warned, "A meter or listener of executions threw an exception", ex);
			}
		}
	}

	public void begun() {
		this.begun.increment();
	}

	public void ended(TaskOutcome outcome) {
		// So a count of running tasks that is zero comes after all outcomes.
		count(outcome);
		this.ended.increment();
	}

	/** Stops counting a task as running: it is tried again, maybe by another node. */
	public void abandoned() {
		this.ended.increment();
	}

	/** Counts an outcome alone, such as that of a task that never began. */
	public void count(TaskOutcome outcome) {
		adder(outcome).increment();
	}

	private LongAdder adder(TaskOutcome outcome) {
		return this.outcomes[outcome.ordinal()];
	}

	public long running() {
		// Because of this order the result may be too high for a moment, but never too
		// low.
		long ended = this.ended.sum();
		return this.begun.sum() - ended;
	}

	public TaskCounts counts(long pending) {
		return new TaskCounts(pending, running(), adder(TaskOutcome.COMPLETED).sum(), adder(TaskOutcome.FAILED).sum(),
				adder(TaskOutcome.CANCELLED).sum(), adder(TaskOutcome.EXPIRED).sum(), adder(TaskOutcome.REPLACED).sum(),
				adder(TaskOutcome.SUPERSEDED).sum());
	}

	/** Takes the times of executions, before their outcome is counted. Must be fast. */
	@FunctionalInterface
	public interface ExecutionTimes {

		void executed(long latenessNanos, long durationNanos);

	}

	/**
	 * The tasks of one name since the application started: those that have not begun,
	 * those that have not ended, and all others by their {@link TaskOutcome}. The figures
	 * are read one after the other, so their sum may be wrong. Immutable.
	 */
	public record TaskCounts(long pending, long running, long completed, long failed, long cancelled, long expired,
			long replaced, long superseded) {

	}

	public enum TaskOutcome {

		COMPLETED,

		FAILED,

		/** A user, a rollback or the shutdown cancelled it. */
		CANCELLED,

		/** It was too late to be started. */
		EXPIRED,

		/** A newer task with its key replaced it before it began. */
		REPLACED,

		/** It was not tried again, since a newer task with its key was pending. */
		SUPERSEDED

	}

}
