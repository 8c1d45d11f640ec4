package io.timingwheel;

/**
 * Converts between nanoseconds and ticks. Ticks count from the creation of the wheel, so
 * that only differences of {@link TimeSource#nanoTime()} are used.
 */
final class WheelClock {

	private final TimeSource source;

	private final long start;

	private final long tickNanos;

	private final long maxTick;

	/** 2^63 divided by the duration of a tick. */
	private final long reciprocal;

	WheelClock(TimeSource source, long tickNanos) {
		this.source = source;
		this.start = source.nanoTime();
		this.tickNanos = tickNanos;
		this.maxTick = Long.MAX_VALUE / tickNanos;
		this.reciprocal = (tickNanos == 1) ? Long.MAX_VALUE : Long.divideUnsigned(Long.MIN_VALUE, tickNanos);
	}

	TimeSource source() {
		return this.source;
	}

	/**
	 * The nanoseconds since the creation of the wheel.
	 */
	long elapsed() {
		return this.source.nanoTime() - this.start;
	}

	/**
	 * The last tick that has begun.
	 */
	long now() {
		return tickAt(elapsed());
	}

	/**
	 * The last tick that has begun at a given time.
	 * @param elapsed nanoseconds since the creation of the wheel
	 */
	long tickAt(long elapsed) {
		// A multiplication is cheaper than a division. Its result is at most 1 too low.
		long tick = (Math.multiplyHigh(elapsed, this.reciprocal) << 1) | (elapsed * this.reciprocal >>> 63);
		return (elapsed - tick * this.tickNanos >= this.tickNanos) ? tick + 1 : tick;
	}

	/**
	 * The tick at which a timer is due: the first tick at or after its deadline, so that
	 * no timer is early. Without a positive delay, it is the current tick.
	 * @param elapsed nanoseconds since the creation of the wheel
	 * @param delay nanoseconds from {@code elapsed} to the deadline
	 */
	long dueTick(long elapsed, long delay) {
		return (delay <= 0) ? tickAt(elapsed) : firstTickFrom(saturatedSum(elapsed, delay));
	}

	/**
	 * The tick at which a timer is due. Reads the clock only if the deadline is before
	 * the creation of the wheel, or more than 292 years after it: only the current time
	 * tells these two apart. The tick of another past deadline has begun or is the next
	 * one.
	 * @param nanoTime the deadline, as a reading of the clock
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

	/**
	 * The sum of two durations that are not negative, {@link Long#MAX_VALUE} if it
	 * exceeds the range.
	 */
	static long saturatedSum(long a, long b) {
		long sum = a + b;
		return (sum < 0) ? Long.MAX_VALUE : sum;
	}

	/**
	 * The nanoseconds from the creation of the wheel to a tick, {@link Long#MAX_VALUE} if
	 * they exceed the range.
	 */
	long nanosAt(long tick) {
		return (tick > this.maxTick) ? Long.MAX_VALUE : tick * this.tickNanos;
	}

	/**
	 * The nanoseconds until a tick begins, negative after its beginning.
	 */
	long nanosUntil(long tick) {
		return nanosAt(tick) - elapsed();
	}

}
