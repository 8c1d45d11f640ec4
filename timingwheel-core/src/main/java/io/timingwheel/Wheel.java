package io.timingwheel;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Objects;
import java.util.function.Consumer;

import io.timingwheel.TimerList.Chunk;
import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel, after scheme 7 of Varghese and Lauck, "Hashed and
 * Hierarchical Timing Wheels" (SOSP 1987). Not thread-safe: a {@link Shard} calls it with
 * its lock held.
 *
 * <p>
 * The bits of a due tick at a level, and the next higher bit, select its slot there. Each
 * level accepts the rotation in which the clock is, and the next one, so it has twice as
 * many slots as a rotation. A timer goes to the lowest level that accepts its due tick.
 * The clock jumps from one occupied slot to the next. The timers of a slot of a higher
 * level cascade, in steps, once the slot before it has begun. The timers of a slot of the
 * lowest level expire when the slot begins. While a slot is occupied, new timers of its
 * span are appended to it and not to the levels below, so no timer overtakes an earlier
 * one with the same due tick.
 *
 * <p>
 * Invariants, which hold after each call:
 * <ol>
 * <li>Each occupied slot begins at the clock or later.</li>
 * <li>A level holds the clock's rotation and the next one. So the number of a slot and
 * the clock determine when the slot begins.</li>
 * <li>No occupied slot begins before {@link #nextDue}, and {@link #nextWake} is never
 * after it. While the driver has a chunk in hand, {@code nextDue} and the clock stay at
 * the chunk's tick, so that no timer overtakes one that is put back.</li>
 * <li>{@link #cascading} is above 0 only while {@code nextDue} equals the clock.</li>
 * <li>The slot of a timer never begins after both the timer's due tick and the
 * clock.</li>
 * </ol>
 */
final class Wheel {

	/** The tick of a slot that does not exist. */
	static final long NEVER = Long.MAX_VALUE;

	private final Shard shard;

	private final WheelClock time;

	final int bits;

	/** The slots of a level: two rotations. */
	private final int width;

	/** The level by the number of leading zeros of a difference. */
	private final byte[] levelByZeros = new byte[Long.SIZE];

	/** The slots of all levels up to the highest one that was used. Null until used. */
	private @Nullable TimerList[] slots = new TimerList[0];

	private final BitSet occupied = new BitSet();

	/** The chunk that the driver has in hand. It is in no list. */
	@Nullable Chunk inHand;

	/** The driver takes a timer that is alone in its slot in this chunk. */
	private final Chunk spare;

	/** The tick up to which nothing is left to do. */
	long clock;

	/** The highest level with a slot that has begun and must cascade, 0 if none has. */
	int cascading;

	/** A lower bound of the start of the first occupied slot. Any thread may read it. */
	volatile long nextDue = NEVER;

	/** When the driver must be awake: at {@link #nextDue}, or earlier for a cascade. */
	volatile long nextWake = NEVER;

	Wheel(Shard shard, WheelClock time, int size) {
		this.shard = shard;
		this.time = time;
		this.bits = Integer.numberOfTrailingZeros(size);
		this.width = 2 * size;
		this.spare = new Chunk(shard, Chunk.MIN_LENGTH);
		for (int bit = 0; bit < Long.SIZE; bit++) {
			this.levelByZeros[Long.SIZE - 1 - bit] = (byte) (bit / this.bits);
		}
	}

	/**
	 * Puts a timer into the slot of its due tick. Reads the time only if this slot would
	 * begin before all others, since a reading costs as much as the rest of the call.
	 */
	void place(Timer timer, long dueTick) {
		long tick = Math.max(dueTick, this.clock);
		int level = levelFor(tick);
		long start = slotNumber(tick, level) << shift(level);
		if (start < this.nextDue) {
			long now = this.time.now();
			if (now > this.clock && now < this.nextDue) {
				// No slot begins up to now. A later clock gives a lower level.
				this.clock = now;
				tick = Math.max(dueTick, now);
				level = levelFor(tick);
				start = slotNumber(tick, level) << shift(level);
			}
		}
		append(timer, level, tick);
		if (start < this.nextDue) {
			this.nextDue = start;
		}
		long wake = wakeFor(level, start);
		if (wake < this.nextWake) {
			this.nextWake = wake;
		}
	}

	private int levelFor(long tick) {
		int highest = this.levelByZeros[Long.numberOfLeadingZeros((tick ^ this.clock) | 1)];
		return lowestLevel(Math.max(this.cascading, highest), tick);
	}

	/** The lowest level that accepts a tick, below no slot that must cascade first. */
	private int lowestLevel(int from, long tick) {
		int level = from;
		while (level > 0 && slotNumber(tick, level) - slotNumber(this.clock, level) <= 1
				&& !this.occupied.get(slot(tick, level))) {
			level--;
		}
		return level;
	}

	private void append(Timer timer, int level, long tick) {
		int slot = slot(tick, level);
		if (slot >= this.slots.length) {
			this.slots = Arrays.copyOf(this.slots, (level + 1) * this.width);
		}
		TimerList list = this.slots[slot];
		if (list == null) {
			list = new TimerList(this.shard, slot);
			this.slots[slot] = list;
		}
		if (list.isEmpty()) {
			this.occupied.set(slot);
		}
		list.append(timer);
	}

	private long wakeFor(int level, long start) {
		return (level == 0) ? start : start - (1L << shift(level));
	}

	/** A timer in hand has no list, and stays there. */
	void remove(@Nullable TimerList list, Timer.Place place, int index) {
		if (list != null) {
			list.remove(place, index);
			emptied(list);
		}
	}

	private void emptied(TimerList list) {
		if (list.isEmpty() && list.slot != TimerList.NO_SLOT) {
			this.occupied.clear(list.slot);
		}
	}

	boolean isTooLate(Timer timer, long dueTick) {
		TimerList list = timer.list();
		return list != null && list.slot != TimerList.NO_SLOT && startOf(list.slot) > Math.max(dueTick, this.clock);
	}

	/**
	 * Takes one bounded step: returns the first chunk of a slot that has begun, whose
	 * tick is the clock, or cascades some timers. If the first slot begins later than
	 * {@link #nextDue} said, only corrects this, since timers of another shard may be due
	 * before. The driver must have finished the chunk of the step before.
	 */
	@Nullable Chunk advance(long now) {
		if (this.inHand != null) {
			this.inHand.clear();
			this.inHand = null;
		}
		long expected = this.nextDue;
		TimerList first = plan();
		try {
			if (this.nextDue == expected) {
				step(first, now);
			}
		}
		finally {
			// This happens even if the step has failed for want of memory.
			TimerList begun = highestSlot(0);
			this.cascading = (begun != null) ? levelOf(begun.slot) : 0;
			if (this.inHand == null) {
				plan();
			}
		}
		return this.inHand;
	}

	private void step(@Nullable TimerList first, long now) {
		if (first == null || this.nextDue > now) {
			this.clock = Math.max(this.clock, now);
			TimerList next = highestSlot(1);
			if (next != null) {
				cascade(next);
			}
			return;
		}
		this.clock = Math.max(this.clock, this.nextDue);
		if (levelOf(first.slot) > 0) {
			cascade(first);
			return;
		}
		this.inHand = first.takeChunk(this.spare);
		emptied(first);
	}

	/**
	 * The occupied slot above level 0 that holds the clock, or with 1 the one after it.
	 * Of several, that of the highest level, which has the oldest timers.
	 */
	private @Nullable TimerList highestSlot(long following) {
		for (int level = levels() - 1; level > 0; level--) {
			int slot = slot(this.clock + (following << shift(level)), level);
			if (this.occupied.get(slot)) {
				return this.slots[slot];
			}
		}
		return null;
	}

	/**
	 * Moves the timers of the first chunk of a slot to lower levels. A timer that was
	 * moved past the slot goes to the slot of its due tick.
	 */
	private void cascade(TimerList list) {
		int level = levelOf(list.slot);
		long start = startOf(list.slot);
		list.moveFirst((timer) -> {
			long tick = Math.max(timer.state(), start);
			if (slotNumber(tick, level) == slotNumber(start, level)) {
				append(timer, lowestLevel(level - 1, tick), tick);
			}
			else {
				place(timer, tick);
			}
		});
		emptied(list);
	}

	/**
	 * Sets when work is due. Returns the slot that begins first, of several that of the
	 * highest level.
	 */
	private @Nullable TimerList plan() {
		TimerList first = null;
		long due = NEVER;
		long wake = NEVER;
		for (int level = 0; level < levels(); level++) {
			int slot = firstOccupied(level);
			if (slot >= 0) {
				long start = startOf(slot);
				wake = Math.min(wake, wakeFor(level, start));
				if (start <= due) {
					due = start;
					first = this.slots[slot];
				}
			}
		}
		this.nextDue = due;
		this.nextWake = Math.min(wake, due);
		return first;
	}

	private int firstOccupied(int level) {
		int slot = this.occupied.nextSetBit(slot(this.clock, level));
		if (slot < 0 || levelOf(slot) > level) {
			slot = this.occupied.nextSetBit(level * this.width);
		}
		return (slot >= 0 && levelOf(slot) == level) ? slot : -1;
	}

	long startOf(int slot) {
		int level = levelOf(slot);
		long current = slotNumber(this.clock, level);
		return (current + (slot - current & (this.width - 1))) << shift(level);
	}

	int levelOf(int slot) {
		return slot / this.width;
	}

	private int shift(int level) {
		return level * this.bits;
	}

	private long slotNumber(long tick, int level) {
		return tick >>> shift(level);
	}

	private int slot(long tick, int level) {
		return level * this.width + ((int) slotNumber(tick, level) & (this.width - 1));
	}

	int levels() {
		return this.slots.length / this.width;
	}

	void forEachSlot(Consumer<TimerList> consumer) {
		for (int slot = this.occupied.nextSetBit(0); slot >= 0; slot = this.occupied.nextSetBit(slot + 1)) {
			consumer.accept(Objects.requireNonNull(this.slots[slot]));
		}
	}

	void clear() {
		Arrays.fill(this.slots, null);
		this.occupied.clear();
	}

}
