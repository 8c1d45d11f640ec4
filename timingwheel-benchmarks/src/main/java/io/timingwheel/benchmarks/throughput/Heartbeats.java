package io.timingwheel.benchmarks.throughput;

/**
 * Tells which keys have not been heard of for a while.
 */
interface Heartbeats extends AutoCloseable {

	void beat(Long key);

	@Override
	void close();

}
