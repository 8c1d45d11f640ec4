package io.timingwheel.benchmarks.throughput;

/** Finds the keys that have sent no heartbeat for a while. */
interface Heartbeats extends AutoCloseable {

	void beat(Long key);

	@Override
	void close();

}
