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

	/** The start of the occupied slot that begins first. */
	private long earliest;

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
		this.earliest = Wheel.NEVER;
		this.wheel.forEachSlot(this::checkSlot);
		long nextDue = this.wheel.nextDue;
		require(nextDue <= this.earliest, "nextDue", nextDue, "is after the first occupied slot, which begins at",
				this.earliest);
		require(this.wheel.nextWake <= nextDue, "nextWake", this.wheel.nextWake, "is after nextDue", nextDue);
		if (this.wheel.inHand != null) {
			require(nextDue == this.wheel.clock, "nextDue", nextDue, "has left the chunk in hand at", this.wheel.clock);
		}
		if (this.wheel.cascading > 0) {
			require(nextDue == this.wheel.clock, "A level cascades, but nextDue", nextDue, "is not the clock",
					this.wheel.clock);
		}
	}

	private void checkSlot(TimerList list) {
		int slot = list.slot;
		long start = this.wheel.startOf(slot);
		require(start >= this.wheel.clock, "The clock", this.wheel.clock,
				"has passed an occupied slot, which begins at", start);
		this.earliest = Math.min(this.earliest, start);
		int level = this.wheel.levelOf(slot);
		long last = start + (1L << (level * this.wheel.bits)) - 1;
		this.count = 0;
		list.forEach((timer) -> {
			require(timer.list() == list, "The timer in slot", slot, "has another place, at index", timer.index);
			checkTimer(timer, start, last);
		});
		require(this.count > 0, "An occupied slot begins at", start, "and has this many timers:", this.count);
		require(this.count == list.size(), "The size of a slot is", list.size(), "but it holds", this.count);
	}

	private void checkTimer(Timer timer, long start, long last) {
		this.count++;
		long dueTick = timer.state();
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
