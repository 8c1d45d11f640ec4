package io.timingwheel.benchmarks.durable;

import java.time.Instant;

/**
 * A node that stores tasks and runs those of all nodes. Thread-safe.
 */
interface TaskNode extends AutoCloseable {

	void enqueue(Instant due);

	/**
	 * Stores tasks the fastest way that there is.
	 */
	void enqueueBatch(int count, Instant due);

	/**
	 * Runs nothing more for the time being. Need not be supported.
	 */
	void pause();

	void resume();

	@Override
	void close();

}
