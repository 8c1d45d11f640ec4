package io.timingwheel;

/**
 * Decides when a crowded slot of a {@link Wheel} begins to cascade before its own start.
 * A million timers take tens of milliseconds to cascade, and timers that are due in that
 * time would be late. The driver therefore cascades a crowded slot in small steps while
 * no timer is due.
 *
 * <p>
 * An early cascade begins before its slot begins: earlier by the time that the timers of
 * the ring need to cascade, but by no more than the span of one slot. A slot that needs
 * less than a tick cascades when it begins.
 */
final class EarlyCascades {

	/**
	 * The time for one timer in a JVM that has just started; a warm JVM needs a third.
	 */
	private static final int NANOS_PER_TIMER = 192;

	private final int bits;

	private final long timersPerTick;

	/** By level, the start of the slot that began to cascade early last. */
	private final long[] begun;

	/** By level, the start of the slot that an early cascade emptied last. */
	private final long[] emptied;

	EarlyCascades(int levels, int bits, long tickNanos) {
		this.bits = bits;
		this.timersPerTick = Math.max(1, tickNanos / NANOS_PER_TIMER);
		this.begun = new long[levels];
		this.emptied = new long[levels];
	}

	/**
	 * The tick from which a slot may cascade.
	 * @param level the level of the slot, above 0
	 * @param start the tick at which the slot begins
	 * @param ringSize the number of timers in the slot's ring
	 * @return a tick before {@code start}, or {@code start} itself if the slot is not
	 * crowded or was already emptied; later timers of an emptied slot wait for the start
	 */
	long tickFor(int level, long start, int ringSize) {
		if (this.emptied[level] == start) {
			return start;
		}
		long span = 1L << (level * this.bits);
		// A cascade that has begun goes on, even though its ring shrinks.
		return start - ((this.begun[level] == start) ? span : Math.min(ringSize / this.timersPerTick, span));
	}

	/**
	 * Records one step of an early cascade.
	 */
	void stepTaken(int level, long start, boolean emptied) {
		this.begun[level] = start;
		if (emptied) {
			this.emptied[level] = start;
		}
	}

}
