package io.timingwheel.benchmarks.durable;

import java.io.IOException;

/**
 * A server that all contestants use in turn.
 */
interface Server extends AutoCloseable {

	String url();

	/**
	 * Deletes everything.
	 */
	void clear();

	/**
	 * How many statements it has run since it was started.
	 */
	long statements();

	/**
	 * The processor time that the processes of the server have used, in nanoseconds.
	 */
	long cpuNanos();

	@Override
	void close() throws IOException;

}
