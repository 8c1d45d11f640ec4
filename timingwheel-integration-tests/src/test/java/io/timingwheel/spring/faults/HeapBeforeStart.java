package io.timingwheel.spring.faults;

import java.lang.management.ManagementFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Measures the heap when the context is complete and the node has not claimed a task yet.
 */
class HeapBeforeStart implements SmartLifecycle {

	private volatile long bytes = -1;

	/**
	 * The heap in use after a garbage collection.
	 */
	static long used() {
		System.gc();
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

	long bytes() {
		return this.bytes;
	}

	@Override
	public void start() {
		this.bytes = used();
	}

	@Override
	public void stop() {
	}

	@Override
	public boolean isRunning() {
		return this.bytes >= 0;
	}

	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

}
