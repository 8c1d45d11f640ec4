package io.timingwheel;

/**
 * Converts between nanoseconds and ticks. Ticks count from the creation of the wheel, so
 * that only differences of {@link TimeSource#nanoTime()} are used.
 */
final class WheelClock {

	final TimeSource source;

	private final long start;

	private final long tickNanos;

	/** 2^63 divided by the duration of a tick. */
	private final long reciprocal;

	WheelClock(TimeSource source, long tickNanos) {
		this.source = source;
		this.start = source.nanoTime();
		this.tickNanos = tickNanos;
		this.reciprocal = (tickNanos == 1) ? Long.MAX_VALUE : Long.divideUnsigned(Long.MIN_VALUE, tickNanos);
	}

	long elapsed() {
		return this.source.nanoTime() - this.start;
	}

	long now() {
		return tickAt(elapsed());
	}

	/** The last tick that has begun. */
	long tickAt(long elapsed) {
		// A multiplication is cheaper than a division. Its result is at most 1 too low.
		long tick = (Math.multiplyHigh(elapsed, this.reciprocal) << 1) | (elapsed * this.reciprocal >>> 63);
		return (elapsed - tick * this.tickNanos >= this.tickNanos) ? tick + 1 : tick;
	}

	/**
	 * The first tick at or after a deadline, so that no timer is early. Without a
	 * positive delay, the current tick.
	 */
	long dueTick(long elapsed, long delay) {
		return (delay <= 0) ? tickAt(elapsed) : firstTickFrom(saturatedSum(elapsed, delay));
	}

	/**
	 * The same for a reading of the clock. Only the current time tells a deadline before
	 * the creation of the wheel from one more than 292 years after it.
	 */
	long dueTickAt(long nanoTime) {
		long deadline = nanoTime - this.start;
		if (deadline < 0) {
			long elapsed = elapsed();
			return dueTick(elapsed, deadline - elapsed);
		}
		return firstTickFrom(deadline);
	}

	private long firstTickFrom(long deadline) {
		long tick = tickAt(deadline);
		return (tick * this.tickNanos == deadline) ? tick : tick + 1;
	}

	static long saturatedSum(long a, long b) {
		long sum = a + b;
		return (sum < 0) ? Long.MAX_VALUE : sum;
	}

	long nanosAt(long tick) {
		return (tick > Long.MAX_VALUE / this.tickNanos) ? Long.MAX_VALUE : tick * this.tickNanos;
	}

	long nanosUntil(long tick) {
		return nanosAt(tick) - elapsed();
	}

	enum SystemTime implements TimeSource {

		INSTANCE;

		@Override
		public long nanoTime() {
			return System.nanoTime();
		}

	}

}
