package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.time.Instant;

/** A node that stores tasks and runs those of all nodes. Thread-safe. */
interface TaskNode extends AutoCloseable {

	void enqueue(Instant due);

	/** Stores tasks in the fastest way that the contestant has. */
	void enqueueBatch(int count, Instant due);

	/**
	 * Stores a schedule whose first run is due after one period.
	 * @param number identifies the schedule
	 * @param period the time from one run to the next
	 */
	default void recur(int number, Duration period) {
		throw new UnsupportedOperationException("This contestant has no schedules");
	}

	/** Ends a schedule. */
	default void cancel(int number) {
		throw new UnsupportedOperationException("This contestant has no schedules");
	}

	/** Stores tasks that are due now, of a name whose starts are limited. */
	default void enqueueLimited(int count) {
		throw new UnsupportedOperationException("This contestant has no limits");
	}

	/**
	 * Stores tasks that are not due for a long time.
	 * @param from the number of the first task
	 * @param to the number after that of the last task
	 */
	default void enqueuePending(int from, int to) {
		throw new UnsupportedOperationException("This contestant has no pending tasks");
	}

	/**
	 * Holds back due tasks from now on. Does nothing if the contestant cannot do this
	 * ({@link DurablePeer#canPause}).
	 */
	void pause();

	void resume();

	@Override
	void close();

}
