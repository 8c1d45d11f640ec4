package io.timingwheel;

/**
 * Converts between nanoseconds and ticks. Ticks count from the creation of the wheel, so
 * that only differences of {@link TimeSource#nanoTime()} are ever used.
 */
final class WheelClock {

	private final TimeSource source;

	private final long start;

	private final long tickNanos;

	private final long maxTick;

	/** 2^63 / tickNanos. */
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

	long tickAt(long elapsed) {
		// A multiplication is cheaper than a division, and at most one too low.
		long tick = (Math.multiplyHigh(elapsed, this.reciprocal) << 1) | (elapsed * this.reciprocal >>> 63);
		return (elapsed - tick * this.tickNanos >= this.tickNanos) ? tick + 1 : tick;
	}

	/**
	 * The first tick at or after the deadline, which makes a timer never early. What is
	 * due already belongs to the current tick.
	 */
	long deadline(long elapsed, long delay) {
		if (delay <= 0) {
			return tickAt(elapsed);
		}
		long deadline = elapsed + delay;
		if (deadline < 0) {
			deadline = Long.MAX_VALUE;
		}
		long tick = tickAt(deadline);
		return (tick * this.tickNanos == deadline) ? tick : tick + 1;
	}

	long nanosAt(long tick) {
		return (tick > this.maxTick) ? Long.MAX_VALUE : tick * this.tickNanos;
	}

	/**
	 * The nanoseconds until a tick begins; negative once it has begun.
	 */
	long nanosUntil(long tick) {
		return nanosAt(tick) - elapsed();
	}

}
