package io.timingwheel.benchmarks.throughput;

import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * The delays of a benchmark. Random ones are drawn beforehand, so that only the timers
 * are measured.
 */
public enum Delays {

	/** From 10 to 20 minutes. No timer ends during a measurement. */
	RANDOM(TimeUnit.MINUTES.toNanos(10), TimeUnit.MINUTES.toNanos(20)) {

		@Override
		long delay(int i) {
			return pendingDelay(i);
		}

	},

	/**
	 * The same 30 s each time, as a client with one timeout has them: all timers of a
	 * moment go to one slot. The other pending timers are due in 1 s to 10 min, so that
	 * the slot has timers already.
	 */
	FIXED(TimeUnit.SECONDS.toNanos(1), TimeUnit.MINUTES.toNanos(10)) {

		@Override
		long delay(int i) {
			return FIXED_DELAY;
		}

	};

	/** The longest delay. */
	static final long LONGEST = TimeUnit.MINUTES.toNanos(20);

	private static final long FIXED_DELAY = TimeUnit.SECONDS.toNanos(30);

	private static final int COUNT = 1 << 12;

	private final long[] pendingDelays;

	Delays(long shortest, long longest) {
		this.pendingDelays = new Random(42).longs(COUNT, shortest, longest).toArray();
	}

	/** The delay of an operation. */
	abstract long delay(int i);

	/** The delay of a timer that is pending during the benchmark. */
	long pendingDelay(int i) {
		return this.pendingDelays[i & (COUNT - 1)];
	}

}
