package io.timingwheel;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel, after scheme 7 of Varghese and Lauck, "Hashed and
 * Hierarchical Timing Wheels" (SOSP 1987). It is not thread-safe: a {@link Shard} calls
 * it with its lock held. Time is a parameter, in ticks.
 *
 * <p>
 * The bits of a due tick at a level select the slot of this level. Each level accepts the
 * rotation in which the clock is, and the next one, so it has two rings of slots. A timer
 * goes to the lowest level that accepts its due tick. The levels cover all of
 * {@code long}. The clock jumps from one occupied slot to the next. The timers of a slot
 * of a higher level cascade into lower levels, in steps, once the slot before it has
 * begun. The timers of a slot of the lowest level expire when the slot begins.
 *
 * <p>
 * While a slot is occupied, new timers that belong to its span are appended to this slot
 * and not to the levels below. A timer therefore never overtakes an earlier timer with
 * the same due tick.
 *
 * <p>
 * Invariants, which hold after each call:
 * <ol>
 * <li>The clock passes no occupied slot: each occupied slot begins at the clock or
 * later.</li>
 * <li>A ring holds the clock's rotation of its level or the next rotation. The number of
 * a slot and the clock therefore determine when the slot begins.</li>
 * <li>No occupied slot begins before {@link #nextDue}, and {@link #nextWake} is never
 * after it. While the driver has a chunk in hand, {@code nextDue} and the clock stay at
 * the chunk's tick, so that no timer overtakes a timer that the driver puts back.</li>
 * <li>{@link #cascading} is above 0 only while the next due slot has begun, that is,
 * while {@code nextDue} equals the clock.</li>
 * <li>The slot of a timer never begins after the timer's due tick, nor after the clock if
 * the timer is overdue.</li>
 * </ol>
 */
final class Wheel {

	/** The tick of a slot that does not exist. */
	static final long NEVER = Long.MAX_VALUE;

	/** The timer was not placed, since this needs the current tick. */
	static final long NEEDS_NOW = -1;

	private static final int WORD = 6;

	private final Shard shard;

	final int bits;

	private final int mask;

	/** The level by the number of leading zeros of a difference. */
	private final byte[] levelOf = new byte[Long.SIZE];

	/** The slots of each ring, null until used. Two rings for each level. */
	private final @Nullable TimerList[] @Nullable [] slots;

	/** A bit for each occupied slot of a ring. */
	private final long[][] occupied;

	/** The chunk that the driver has in hand. It is in no list. */
	private @Nullable Chunk inHand;

	/** The driver takes a timer that is alone in its slot in this chunk. */
	private final Chunk spare;

	/** The tick up to which nothing is left to do. */
	long clock;

	/** The highest level with a slot that has begun and must cascade, 0 if none has. */
	int cascading;

	private volatile long nextDue = NEVER;

	private volatile long nextWake = NEVER;

	/**
	 * Creates an empty wheel whose clock is at 0.
	 * @param size the number of slots per level, a power of two
	 */
	@SuppressWarnings("NullAway")
	Wheel(Shard shard, int size) {
		this.shard = shard;
		this.bits = Integer.numberOfTrailingZeros(size);
		this.mask = size - 1;
		this.spare = Chunk.small(shard);
		int levels = (Long.SIZE - 2) / this.bits + 1;
		this.slots = new TimerList[2 * levels][];
		this.occupied = new long[2 * levels][];
		for (int bit = 0; bit < Long.SIZE; bit++) {
			this.levelOf[Long.SIZE - 1 - bit] = (byte) (bit / this.bits);
		}
	}

	/**
	 * Puts a timer into the slot of its due tick.
	 * @param now the current tick
	 * @return the tick at which the driver has to be awake because of this timer,
	 * {@link #NEVER} if the driver need not wake earlier than planned
	 */
	long place(Timer timer, long dueTick, long now) {
		if (now > this.clock && now < this.nextDue) {
			// No slot begins up to now. With a later clock the timer gets a lower level.
			this.clock = now;
		}
		return place(timer, dueTick, true);
	}

	/**
	 * Puts a timer into the slot of its due tick, unless this slot would begin before all
	 * others. A clock that is behind would then let the driver wake up too early.
	 * @return as {@link #place}, or {@link #NEEDS_NOW} if the timer was not placed
	 */
	long placeWithoutNow(Timer timer, long dueTick) {
		return place(timer, dueTick, false);
	}

	private long place(Timer timer, long dueTick, boolean upToDate) {
		long tick = Math.max(dueTick, this.clock);
		int highest = this.levelOf[Long.numberOfLeadingZeros((tick ^ this.clock) | 1)];
		int level = lowestLevel(Math.max(this.cascading, highest), tick);
		long start = slotNumber(tick, level) << (level * this.bits);
		boolean first = start < this.nextDue;
		if (first && !upToDate) {
			return NEEDS_NOW;
		}
		append(timer, level, tick);
		if (first) {
			this.nextDue = start;
		}
		long wake = wakeFor(level, start);
		if (wake >= this.nextWake) {
			return NEVER;
		}
		this.nextWake = wake;
		return wake;
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
		if (list.isEmpty()) {
			list.append(timer);
			this.occupied[ring][digit >> WORD] |= 1L << digit;
		}
		else {
			list.append(timer);
		}
	}

	/**
	 * The tick at which the driver begins with a slot: with its timers, or with their
	 * cascade.
	 */
	private long wakeFor(int level, long start) {
		return (level == 0) ? start : start - (1L << (level * this.bits));
	}

	/**
	 * Removes a timer from the place that it has, or had before {@link #place} has given
	 * it another slot. A timer that the driver has in hand stays there, and the driver
	 * drops the timer if it has ended.
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

	/**
	 * Whether the slot of a timer begins too late for a new due tick, so that the timer
	 * has to change its slot.
	 */
	boolean isTooLate(Timer timer, long dueTick) {
		TimerList list = timer.list();
		return list != null && list.slot != TimerList.NO_SLOT && startOf(list.slot) > Math.max(dueTick, this.clock);
	}

	/**
	 * Takes one bounded step. If the first occupied slot has begun, cascades some of its
	 * timers, or gives its first chunk to the driver. If no slot has begun, lets some
	 * timers of a slot that begins next cascade. If the first occupied slot begins later
	 * than {@link #nextDue} said, only corrects {@code nextDue}, since timers of another
	 * wheel may be due before that slot. The driver must have finished the chunk of the
	 * step before.
	 * @param now the current tick
	 * @return the chunk to hand over, whose tick is the clock; null if there is none
	 */
	@Nullable Chunk advance(long now) {
		if (this.inHand != null) {
			this.inHand.clear();
			this.inHand = null;
		}
		try {
			step(now);
		}
		finally {
			// This happens even if the step has failed for want of memory.
			this.cascading = cascadingLevel();
			if (this.inHand == null) {
				plan();
			}
		}
		return this.inHand;
	}

	private void step(long now) {
		TimerList list = earliestSlot();
		long start = (list != null) ? startOf(list.slot) : NEVER;
		if (start != this.nextDue) {
			return;
		}
		if (list == null || start > now) {
			this.clock = Math.max(this.clock, now);
			cascadeEarly();
			return;
		}
		this.clock = Math.max(this.clock, start);
		if (levelOf(list) > 0) {
			cascade(list, start);
			return;
		}
		this.inHand = list.takeChunk(this.spare);
		emptied(list);
	}

	/**
	 * Moves timers of the slot that follows the clock's to lower levels. A slot of a
	 * higher level comes first, since its timers are older.
	 */
	private void cascadeEarly() {
		for (int level = this.slots.length / 2 - 1; level > 0; level--) {
			long start = (slotNumber(this.clock, level) + 1) << (level * this.bits);
			int ring = ring(level, start);
			int digit = digit(start, level);
			TimerList list = isOccupied(ring, digit) ? list(ring, digit) : null;
			if (list != null) {
				cascade(list, start);
				return;
			}
		}
	}

	/**
	 * Moves the timers of the first chunk of a slot to lower levels. A timer that was
	 * moved past the slot goes to the slot of its due tick.
	 */
	private void cascade(TimerList list, long start) {
		int level = levelOf(list);
		list.moveFirst((timer) -> {
			long tick = Math.max(timer.dueTick(), start);
			if (slotNumber(tick, level) == slotNumber(start, level)) {
				append(timer, lowestLevel(level - 1, tick), tick);
			}
			else {
				place(timer, tick, true);
			}
		});
		emptied(list);
	}

	/**
	 * Determines when the first occupied slot begins, and when the driver has to be awake
	 * for it or for an early cascade.
	 */
	private void plan() {
		long due = NEVER;
		long wake = NEVER;
		for (int ring = 0; ring < this.slots.length; ring++) {
			int digit = earliestOf(ring);
			if (digit >= 0) {
				long start = startOf(ring << this.bits | digit);
				due = Math.min(due, start);
				wake = Math.min(wake, wakeFor(ring >>> 1, start));
			}
		}
		this.nextDue = due;
		this.nextWake = Math.min(wake, due);
	}

	/**
	 * The occupied slot that begins first, null if no slot is occupied. If several begin
	 * at the same tick, the slot of the highest level.
	 */
	private @Nullable TimerList earliestSlot() {
		TimerList earliest = null;
		for (int ring = 0; ring < this.slots.length; ring++) {
			int digit = earliestOf(ring);
			if (digit >= 0 && (earliest == null || startOf(ring << this.bits | digit) <= startOf(earliest.slot))) {
				earliest = list(ring, digit);
			}
		}
		return earliest;
	}

	/**
	 * The digit of the occupied slot of a ring that begins first, -1 if there is none.
	 */
	private int earliestOf(int ring) {
		int level = ring >>> 1;
		return nextOccupied(ring, (ring == ring(level, this.clock)) ? digit(this.clock, level) : 0);
	}

	private int cascadingLevel() {
		for (int level = this.slots.length / 2 - 1; level > 0; level--) {
			if (isOccupied(ring(level, this.clock), digit(this.clock, level))) {
				return level;
			}
		}
		return 0;
	}

	/**
	 * The first occupied slot of a ring at or after the given one, -1 if there is none.
	 */
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

	/**
	 * The tick at which a slot begins.
	 */
	long startOf(int slot) {
		int ring = slot >>> this.bits;
		int shift = (ring >>> 1) * this.bits;
		long rotation = this.clock >>> shift >>> this.bits;
		if (((rotation ^ ring) & 1) != 0) {
			rotation++;
		}
		return (rotation << this.bits | (slot & this.mask)) << shift;
	}

	private int levelOf(TimerList list) {
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

	/**
	 * The list of a slot, null until it is used.
	 */
	@Nullable TimerList list(int ring, int digit) {
		@Nullable TimerList[] lists = this.slots[ring];
		return (lists != null) ? lists[digit] : null;
	}

	int rings() {
		return this.slots.length;
	}

	/**
	 * Whether a ring has or had timers.
	 */
	boolean isUsed(int ring) {
		return this.slots[ring] != null;
	}

	/**
	 * Passes on all lists that have timers.
	 */
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

	/**
	 * Ends the timers of all slots. The caller has ended each of them.
	 */
	void clear() {
		forEachSlot((list) -> {
			list.clear();
			emptied(list);
		});
	}

	/**
	 * The chunk that the driver has in hand, null if there is none.
	 */
	@Nullable Chunk inHand() {
		return this.inHand;
	}

	/**
	 * A lower bound of the start of the first occupied slot, {@link #NEVER} if no slot is
	 * occupied. Any thread may read it.
	 */
	long nextDue() {
		return this.nextDue;
	}

	/**
	 * The first tick at which the driver has something to do: {@link #nextDue()}, or
	 * earlier for an early cascade. Any thread may read it.
	 */
	long nextWake() {
		return this.nextWake;
	}

}
