package io.timingwheel.benchmarks;

import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;

/** The processor time that this JVM has used, as the operating system counts it. */
public final class ProcessCpu {

	private static final OperatingSystemMXBean SYSTEM = ManagementFactory
		.getPlatformMXBean(OperatingSystemMXBean.class);

	private ProcessCpu() {
	}

	/**
	 * The time of all threads, ended ones too, in nanoseconds. Linux counts it in steps
	 * of 10 ms.
	 */
	public static long nanos() {
		return SYSTEM.getProcessCpuTime();
	}

}
