package io.timingwheel;

import java.util.function.Consumer;

import io.timingwheel.TimerList.Chunk;
import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel, after scheme 7 of Varghese and Lauck, "Hashed and
 * Hierarchical Timing Wheels" (SOSP 1987). Not thread-safe: a {@link Shard} calls it with
 * its lock held.
 *
 * <p>
 * The bits of a due tick at a level select its slot there. Each level accepts the
 * rotation in which the clock is, and the next one, so it has two rings of slots. A timer
 * goes to the lowest level that accepts its due tick. The clock jumps from one occupied
 * slot to the next. The timers of a slot of a higher level cascade, in steps, once the
 * slot before it has begun. The timers of a slot of the lowest level expire when the slot
 * begins. While a slot is occupied, new timers of its span are appended to it and not to
 * the levels below, so no timer overtakes an earlier one with the same due tick.
 *
 * <p>
 * Invariants, which hold after each call:
 * <ol>
 * <li>Each occupied slot begins at the clock or later.</li>
 * <li>A ring holds the clock's rotation of its level or the next one. So the number of a
 * slot and the clock determine when the slot begins.</li>
 * <li>No occupied slot begins before {@link #nextDue}, and {@link #nextWake} is never
 * after it. While the driver has a chunk in hand, {@code nextDue} and the clock stay at
 * the chunk's tick, so that no timer overtakes one that is put back.</li>
 * <li>{@link #cascading} is above 0 only while {@code nextDue} equals the clock.</li>
 * <li>The slot of a timer never begins after the timer's due tick, nor after the clock if
 * the timer is overdue.</li>
 * </ol>
 */
final class Wheel {

	/** The tick of a slot that does not exist. */
	static final long NEVER = Long.MAX_VALUE;

	private static final int WORD = 6;

	private final Shard shard;

	private final WheelClock time;

	final int bits;

	private final int mask;

	/** The level by the number of leading zeros of a difference. */
	private final byte[] levelOf = new byte[Long.SIZE];

	/** The slots of each ring, null until used. Two rings for each level. */
	private final @Nullable TimerList[] @Nullable [] slots;

	private final long[][] occupied;

	/** The chunk that the driver has in hand. It is in no list. */
	private @Nullable Chunk inHand;

	/** The driver takes a timer that is alone in its slot in this chunk. */
	private final Chunk spare;

	/** The tick up to which nothing is left to do. */
	long clock;

	/** The highest level with a slot that has begun and must cascade, 0 if none has. */
	int cascading;

	/** A lower bound of the start of the first occupied slot. Any thread may read it. */
	private volatile long nextDue = NEVER;

	/** When the driver has to be awake: at {@link #nextDue}, or earlier for a cascade. */
	private volatile long nextWake = NEVER;

	@SuppressWarnings("NullAway")
	Wheel(Shard shard, WheelClock time, int size) {
		this.shard = shard;
		this.time = time;
		this.bits = Integer.numberOfTrailingZeros(size);
		this.mask = size - 1;
		this.spare = new Chunk(shard, Chunk.MIN_LENGTH);
		int levels = (Long.SIZE - 2) / this.bits + 1;
		this.slots = new TimerList[2 * levels][];
		this.occupied = new long[2 * levels][];
		for (int bit = 0; bit < Long.SIZE; bit++) {
			this.levelOf[Long.SIZE - 1 - bit] = (byte) (bit / this.bits);
		}
	}

	/**
	 * Puts a timer into the slot of its due tick. Reads the time only if this slot would
	 * begin before all others, since a reading costs as much as the rest of the call.
	 * @return the tick at which the driver has to be awake because of this timer,
	 * {@link #NEVER} if it need not wake earlier than planned
	 */
	long place(Timer timer, long dueTick) {
		long tick = Math.max(dueTick, this.clock);
		int level = levelFor(tick);
		long start = slotNumber(tick, level) << (level * this.bits);
		if (start < this.nextDue) {
			long now = this.time.now();
			if (now > this.clock && now < this.nextDue) {
				// No slot begins up to now. With a later clock the timer gets a lower
				// level.
				this.clock = now;
				tick = Math.max(dueTick, now);
				level = levelFor(tick);
				start = slotNumber(tick, level) << (level * this.bits);
			}
		}
		append(timer, level, tick);
		if (start < this.nextDue) {
			this.nextDue = start;
		}
		long wake = wakeFor(level, start);
		if (wake >= this.nextWake) {
			return NEVER;
		}
		this.nextWake = wake;
		return wake;
	}

	private int levelFor(long tick) {
		int highest = this.levelOf[Long.numberOfLeadingZeros((tick ^ this.clock) | 1)];
		return lowestLevel(Math.max(this.cascading, highest), tick);
	}

	/**
	 * The lowest level, from the given one down, that accepts a tick, and has no slot
	 * above it that must cascade first.
	 */
	private int lowestLevel(int from, long tick) {
		int level = from;
		while (level > 0 && slotNumber(tick, level) - slotNumber(this.clock, level) <= 1
				&& !isOccupied(ring(level, tick), digit(tick, level))) {
			level--;
		}
		return level;
	}

	private void append(Timer timer, int level, long tick) {
		int ring = ring(level, tick);
		int digit = digit(tick, level);
		@Nullable TimerList[] lists = this.slots[ring];
		if (lists == null) {
			lists = new TimerList[this.mask + 1];
			this.occupied[ring] = new long[(this.mask >> WORD) + 1];
			this.slots[ring] = lists;
		}
		TimerList list = lists[digit];
		if (list == null) {
			list = new TimerList(this.shard, ring << this.bits | digit);
			lists[digit] = list;
		}
		list.append(timer);
		this.occupied[ring][digit >> WORD] |= 1L << digit;
	}

	private long wakeFor(int level, long start) {
		return (level == 0) ? start : start - (1L << (level * this.bits));
	}

	/**
	 * Removes a timer from a place that it has or had. One in hand stays there.
	 */
	void remove(@Nullable TimerList list, Timer.Place place, int index) {
		if (list != null) {
			list.remove(place, index);
			emptied(list);
		}
	}

	private void emptied(TimerList list) {
		if (list.isEmpty() && list.slot != TimerList.NO_SLOT) {
			int digit = list.slot & this.mask;
			this.occupied[list.slot >>> this.bits][digit >> WORD] &= ~(1L << digit);
		}
	}

	boolean isTooLate(Timer timer, long dueTick) {
		TimerList list = timer.list();
		return list != null && list.slot != TimerList.NO_SLOT && startOf(list.slot) > Math.max(dueTick, this.clock);
	}

	/**
	 * Takes one bounded step: gives the first chunk of a slot that has begun to the
	 * driver, or cascades some timers. If the first slot begins later than
	 * {@link #nextDue} said, only corrects this, since timers of another wheel may be due
	 * before. The driver must have finished the chunk of the step before.
	 * @return the chunk to hand over, whose tick is the clock; null if there is none
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
			this.cascading = (begun != null) ? levelOf(begun) : 0;
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
		if (levelOf(first) > 0) {
			cascade(first);
			return;
		}
		this.inHand = first.takeChunk(this.spare);
		emptied(first);
	}

	/**
	 * The occupied slot of the highest level above 0, which has the oldest timers.
	 * @param following 0 for the slots that hold the clock, 1 for those that follow them
	 */
	private @Nullable TimerList highestSlot(int following) {
		for (int level = this.slots.length / 2 - 1; level > 0; level--) {
			long start = (slotNumber(this.clock, level) + following) << (level * this.bits);
			if (isOccupied(ring(level, start), digit(start, level))) {
				return list(ring(level, start), digit(start, level));
			}
		}
		return null;
	}

	/**
	 * Moves the timers of the first chunk of a slot to lower levels. A timer that was
	 * moved past the slot goes to the slot of its due tick.
	 */
	private void cascade(TimerList list) {
		int level = levelOf(list);
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
	 * Publishes when the first occupied slot begins, and when the driver has to be awake.
	 * @return the slot that begins first, of several that of the highest level
	 */
	private @Nullable TimerList plan() {
		TimerList first = null;
		long due = NEVER;
		long wake = NEVER;
		for (int ring = 0; ring < this.slots.length; ring++) {
			int level = ring >>> 1;
			int digit = nextOccupied(ring, (ring == ring(level, this.clock)) ? digit(this.clock, level) : 0);
			if (digit >= 0) {
				long start = startOf(ring << this.bits | digit);
				wake = Math.min(wake, wakeFor(level, start));
				if (start <= due) {
					due = start;
					first = list(ring, digit);
				}
			}
		}
		this.nextDue = due;
		this.nextWake = Math.min(wake, due);
		return first;
	}

	int nextOccupied(int ring, int from) {
		long[] occupied = this.occupied[ring];
		if (occupied == null || from > this.mask) {
			return -1;
		}
		int word = from >> WORD;
		long bits = occupied[word] & (-1L << from);
		while (bits == 0) {
			if (++word == occupied.length) {
				return -1;
			}
			bits = occupied[word];
		}
		return (word << WORD) + Long.numberOfTrailingZeros(bits);
	}

	private boolean isOccupied(int ring, int digit) {
		long[] occupied = this.occupied[ring];
		return occupied != null && (occupied[digit >> WORD] & (1L << digit)) != 0;
	}

	long startOf(int slot) {
		int ring = slot >>> this.bits;
		int shift = (ring >>> 1) * this.bits;
		long rotation = this.clock >>> shift >>> this.bits;
		if (((rotation ^ ring) & 1) != 0) {
			rotation++;
		}
		return (rotation << this.bits | (slot & this.mask)) << shift;
	}

	int levelOf(TimerList list) {
		return list.slot >>> this.bits >>> 1;
	}

	private long slotNumber(long tick, int level) {
		return tick >>> (level * this.bits);
	}

	private int digit(long tick, int level) {
		return (int) slotNumber(tick, level) & this.mask;
	}

	private int ring(int level, long tick) {
		return (level << 1) | ((int) (slotNumber(tick, level) >>> this.bits) & 1);
	}

	private @Nullable TimerList list(int ring, int digit) {
		@Nullable TimerList[] lists = this.slots[ring];
		return (lists != null) ? lists[digit] : null;
	}

	int levels() {
		int rings = this.slots.length;
		while (rings > 0 && this.slots[rings - 1] == null) {
			rings--;
		}
		return (rings + 1) / 2;
	}

	void forEachSlot(Consumer<TimerList> consumer) {
		for (int ring = 0; ring < this.slots.length; ring++) {
			for (int digit = nextOccupied(ring, 0); digit >= 0; digit = nextOccupied(ring, digit + 1)) {
				TimerList list = list(ring, digit);
				if (list != null) {
					consumer.accept(list);
				}
			}
		}
	}

	void clear() {
		forEachSlot((list) -> {
			list.clear();
			emptied(list);
		});
	}

	@Nullable Chunk inHand() {
		return this.inHand;
	}

	long nextDue() {
		return this.nextDue;
	}

	long nextWake() {
		return this.nextWake;
	}

}
