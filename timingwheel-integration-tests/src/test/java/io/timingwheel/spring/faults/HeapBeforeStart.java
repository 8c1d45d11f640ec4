package io.timingwheel.spring.faults;

import java.lang.management.ManagementFactory;

import org.springframework.context.SmartLifecycle;

/**
 * Measures the heap when the context is complete and no task was claimed.
 */
class HeapBeforeStart implements SmartLifecycle {

	private volatile long bytes = -1;

	/**
	 * What is in use once the garbage is gone.
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
