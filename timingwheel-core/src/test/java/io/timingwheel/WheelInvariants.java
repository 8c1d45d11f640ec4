package io.timingwheel;

import java.util.function.Predicate;

/**
 * Checks the invariants that {@link Wheel} states. Throws plain errors instead of using
 * AssertJ, since the model tests check each timer after each step.
 */
final class WheelInvariants {

	private final Wheel wheel;

	private final Predicate<Timer> wasMoved;

	/** How many timers of a slot have been checked. */
	private int count;

	/**
	 * Creates a checker.
	 * @param wasMoved whether a timer may have been moved, so that its slot need not
	 * contain its due tick
	 */
	WheelInvariants(Wheel wheel, Predicate<Timer> wasMoved) {
		this.wheel = wheel;
		this.wasMoved = wasMoved;
	}

	void check() {
		long earliest = Wheel.NEVER;
		for (int index = 0; index < this.wheel.rings.length; index++) {
			Ring ring = this.wheel.rings[index];
			if (ring != null) {
				earliest = Math.min(earliest, checkSlots(index, ring));
			}
		}
		long nextDue = this.wheel.nextDue();
		require(nextDue <= earliest, "nextDue", nextDue, "is after the first occupied slot, which begins at", earliest);
		require(this.wheel.nextWake() <= nextDue, "nextWake", this.wheel.nextWake(), "is after nextDue", nextDue);
		if (this.wheel.batch.hasChunk()) {
			require(this.wheel.clock == this.wheel.batch.tick(), "The clock", this.wheel.clock,
					"has left the tick of the chunk in hand", this.wheel.batch.tick());
			require(nextDue == this.wheel.clock, "nextDue", nextDue, "has left the chunk in hand at", this.wheel.clock);
		}
		if (this.wheel.cascading > 0) {
			require(nextDue == this.wheel.clock, "A level cascades, but nextDue", nextDue, "is not the clock",
					this.wheel.clock);
		}
	}

	/**
	 * Checks the slots of a ring.
	 * @return the start of the slot that begins first
	 */
	private long checkSlots(int index, Ring ring) {
		long earliest = Wheel.NEVER;
		int size = 0;
		int slots = 1 << this.wheel.bits;
		for (int digit = ring.nextOccupied(0); digit >= 0; digit = (digit + 1 < slots) ? ring.nextOccupied(digit + 1)
				: -1) {
			int slot = (index << this.wheel.bits) | digit;
			long start = this.wheel.startOf(slot);
			require(start >= this.wheel.clock, "The clock", this.wheel.clock,
					"has passed an occupied slot, which begins at", start);
			earliest = Math.min(earliest, start);
			long last = start + (1L << ((index >>> 1) * this.wheel.bits)) - 1;
			this.count = 0;
			ring.forEach(digit, (timer) -> {
				checkPosition(timer, slot);
				checkTimer(timer, start, last);
			});
			require(this.count > 0, "An occupied slot begins at", start, "and has this many timers:", this.count);
			size += this.count;
		}
		require(size == ring.size(), "The size of a ring is", ring.size(), "but its slots hold", size);
		return earliest;
	}

	private void checkPosition(Timer timer, int slot) {
		require(!timer.isWaiting(), "The timer in slot", slot, "has the position of a waiting timer,", timer.position);
		require(this.wheel.slotOf(timer) == slot, "The timer in slot", slot, "has the position of slot",
				this.wheel.slotOf(timer));
	}

	private void checkTimer(Timer timer, long start, long last) {
		this.count++;
		long dueTick = timer.dueTick();
		require(dueTick >= 0, "A timer stands in the slot that begins at", start, "but its state is", dueTick);
		require(start <= Math.max(dueTick, this.wheel.clock), "The slot begins at", start, "after the due tick",
				dueTick);
		if (dueTick > last && !this.wasMoved.test(timer)) {
			throw new AssertionError("A ring holds neither this rotation nor the next: the slot from " + start + " to "
					+ last + " holds a timer that is due at " + dueTick);
		}
	}

	private static void require(boolean condition, String first, long value, String second, long other) {
		if (!condition) {
			throw new AssertionError(first + " " + value + " " + second + " " + other);
		}
	}

}
