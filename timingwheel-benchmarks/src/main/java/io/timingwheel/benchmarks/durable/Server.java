package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.Callable;

/** A server that all contestants use in turn. */
interface Server extends AutoCloseable {

	String url();

	/**
	 * Deletes everything but the tasks of {@link #addPending}, if the server can keep
	 * these.
	 */
	void clear();

	/**
	 * Adds pending tasks that are not due during the run, unless the server still has
	 * them.
	 * @param count how many
	 * @param node a node of timingwheel, paused
	 * @throws IOException if the node fails
	 */
	void addPending(int count, NodeProcess node) throws IOException;

	/**
	 * Brings the statistics up to date by which the server plans statements, as a server
	 * does by itself after a while.
	 */
	default void analyze() {
	}

	/** What the tasks take, in megabytes, by the kind of place. */
	Map<String, Double> megabytes();

	/**
	 * Does something while another transaction is open that sees the database as it was
	 * before.
	 * @throws Exception if the work fails, or if there is no connection
	 */
	default <T> T besideTransaction(Callable<T> work) throws Exception {
		throw new UnsupportedOperationException("This server has no transactions that last");
	}

	/** How many statements it has run since it was started. */
	long statements();

	/**
	 * What it has written since it was started: {@code wal}, the bytes of its log, and
	 * {@code dead}, the rows that updates and deletes left behind. Empty if the server
	 * does not tell.
	 */
	default Map<String, Double> written() {
		return Map.of();
	}

	/** The processor time that the processes of the server have used, in nanoseconds. */
	long cpuNanos();

	@Override
	void close() throws IOException;

}
