package io.timingwheel.benchmarks.durable;

import java.time.Instant;

/**
 * A node that stores tasks and runs those of all nodes. Thread-safe.
 */
interface TaskNode extends AutoCloseable {

	void enqueue(Instant due);

	/**
	 * Stores tasks in the fastest way that the contestant has.
	 */
	void enqueueBatch(int count, Instant due);

	/**
	 * Holds back due tasks from now on. Optional.
	 */
	void pause();

	void resume();

	@Override
	void close();

}
