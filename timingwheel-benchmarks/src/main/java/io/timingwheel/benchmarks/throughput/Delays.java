package io.timingwheel.benchmarks.throughput;

import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Random delays from 10 to 20 minutes, drawn beforehand so that only the timers are
 * measured. None of them ends during a measurement.
 */
final class Delays {

	/** The longest delay. */
	static final long LONGEST = TimeUnit.MINUTES.toNanos(20);

	private static final long SHORTEST = TimeUnit.MINUTES.toNanos(10);

	private static final int COUNT = 1 << 12;

	private static final long[] DELAYS = new Random(42).longs(COUNT, SHORTEST, LONGEST).toArray();

	private Delays() {
	}

	static long delay(int i) {
		return DELAYS[i & (COUNT - 1)];
	}

}
