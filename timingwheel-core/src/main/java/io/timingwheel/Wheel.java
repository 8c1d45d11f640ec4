package io.timingwheel;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel, after scheme 7 of Varghese and Lauck, "Hashed and
 * Hierarchical Timing Wheels" (SOSP 1987). It is not thread-safe: a {@link Shard} calls
 * it with its lock held. Time is a parameter, in ticks.
 *
 * <p>
 * The level of a timer is the level of the highest bit in which its due tick differs from
 * the clock. The bits of the due tick at this level select the slot. The levels therefore
 * cover all of {@code long}. The timers of a slot have the same bits above its level. A
 * timer moves down at most once per level. The clock jumps from one occupied slot to the
 * next. When the clock reaches a slot of a higher level, the timers of the slot cascade
 * into the level below. When the clock reaches a slot of the lowest level, the timers of
 * the slot expire.
 *
 * <p>
 * Each level has two rings of slots, one for its even and one for its odd rotations. The
 * second ring lets a crowded slot cascade before it begins, see {@link EarlyCascades}.
 *
 * <p>
 * No call moves more than a bounded number of timers. A slot that one call does not empty
 * remains the next due slot. Until the slot is empty, new timers that belong to its span
 * are appended to this slot and not to the levels below. A timer therefore never
 * overtakes an earlier timer with the same due tick.
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

	/** How many timers one call cascades at most. */
	private static final int CASCADE_STEP = 512;

	final int bits;

	private final int mask;

	/** The level by the number of leading zeros of a difference. */
	private final byte[] levelOf = new byte[Long.SIZE];

	private final Chunks chunks = new Chunks();

	final Batch batch = new Batch.Padded();

	/** Two for each level; null until used. */
	final @Nullable Ring[] rings;

	private final EarlyCascades earlyCascades;

	/** The tick up to which nothing is left to do. */
	long clock;

	/** The highest level with a slot that has begun and must cascade, 0 if none has. */
	int cascading;

	private volatile long nextDue = NEVER;

	private volatile long nextWake = NEVER;

	/**
	 * Creates an empty wheel whose clock is at 0.
	 * @param size the number of slots per level, a power of two
	 * @param tickNanos the duration of a tick
	 */
	Wheel(int size, long tickNanos) {
		this.bits = Integer.numberOfTrailingZeros(size);
		this.mask = size - 1;
		int levels = (Long.SIZE - 2) / this.bits + 1;
		this.rings = new Ring[2 * levels];
		this.earlyCascades = new EarlyCascades(levels, this.bits, tickNanos);
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
	 * Puts a timer into the slot of its due tick unless the current tick matters: the
	 * slot would begin before all others, and a clock that is behind would select a slot
	 * that begins too early. In all other cases {@link #place} selects the same slot.
	 * Either a slot has begun already, and the clock must not move. Or no slot begins up
	 * to the current tick, and the timer's slot begins after it.
	 * @return as {@link #place}, or {@link #NEEDS_NOW} if the timer was not placed
	 */
	long placeWithoutNow(Timer timer, long dueTick) {
		return place(timer, dueTick, false);
	}

	private long place(Timer timer, long dueTick, boolean upToDate) {
		long nextDue = this.nextDue;
		long tick = Math.max(dueTick, this.clock);
		int level = Math.max(this.cascading, level(tick));
		long start = slotNumber(tick, level) << (level * this.bits);
		if (start < nextDue) {
			if (!upToDate) {
				return NEEDS_NOW;
			}
			appendAt(level, timer, tick);
			this.nextDue = start;
			this.nextWake = Math.min(this.nextWake, start);
			return start;
		}
		Ring ring = appendAt(level, timer, tick);
		if (ring.hasOutgrownItsPlan() && this.cascading == 0 && !this.batch.hasChunk()) {
			long wake = this.nextWake;
			plan();
			return (this.nextWake < wake) ? this.nextWake : NEVER;
		}
		return NEVER;
	}

	/**
	 * Removes a timer from its slot. A timer that the driver has in hand stays there, and
	 * the driver drops the timer if it has ended.
	 */
	void remove(Timer timer) {
		removeAt(timer.position);
	}

	/**
	 * Removes a timer from the position that it had before {@link #place} has given it
	 * another slot.
	 */
	void removeAt(int position) {
		if (Timer.isAlone(position)) {
			int slot = ~position;
			ring(slot >>> this.bits).removeOnly(slot & this.mask);
			return;
		}
		Chunk chunk = this.chunks.at(position);
		if (!chunk.isInHand()) {
			ring(chunk.slot >>> this.bits).remove(chunk, position);
		}
	}

	/**
	 * Whether the slot of a timer begins too late for a new due tick, so that the timer
	 * has to change its slot.
	 */
	boolean isTooLate(Timer timer, long dueTick) {
		int slot = slotOf(timer);
		return slot != Chunk.IN_HAND && startOf(slot) > Math.max(dueTick, this.clock);
	}

	/**
	 * The number of the slot of a timer, {@link Chunk#IN_HAND} if the driver has the
	 * timer in hand.
	 */
	int slotOf(Timer timer) {
		return timer.isAlone() ? timer.slot() : this.chunks.of(timer).slot;
	}

	/**
	 * Takes one bounded step. If the first occupied slot has begun, cascades some of its
	 * timers, or gives its first chunk to the driver. If no slot has begun, lets a
	 * crowded slot cascade early. If the first occupied slot begins later than
	 * {@link #nextDue} said, only corrects {@code nextDue}, since timers of another wheel
	 * may be due before that slot. The driver must have handed over the batch of the step
	 * before.
	 * @param now the current tick
	 * @return the timers to hand over, often none
	 */
	Batch advance(long now) {
		this.batch.releaseChunk(this.chunks);
		try {
			step(now);
		}
		finally {
			// This happens even if the step has failed for want of memory.
			this.cascading = cascadingLevel();
			if (!this.batch.hasChunk()) {
				plan();
			}
		}
		return this.batch;
	}

	private void step(long now) {
		int slot = earliestSlot();
		long start = (slot < 0) ? NEVER : startOf(slot);
		if (start != this.nextDue) {
			return;
		}
		if (start > now) {
			this.clock = Math.max(this.clock, now);
			cascadeEarly(now);
			return;
		}
		this.clock = Math.max(this.clock, start);
		if (levelOf(slot) == 0) {
			expire(slot);
		}
		else {
			cascade(slot, start);
		}
	}

	/**
	 * Gives the driver the first chunk of a slot. The timers of the chunk are still
	 * pending. Each timer expires when the driver comes to it, unless the timer has been
	 * cancelled or moved before.
	 */
	private void expire(int slot) {
		Ring ring = ring(slot >>> this.bits);
		Chunk chunk = ring.firstChunk(slot & this.mask, Chunk.CAPACITY);
		if (chunk != null) {
			ring.detach(chunk);
			this.batch.take(chunk, this.clock);
		}
	}

	/**
	 * Moves timers of a slot to the level below. A timer that was moved past the slot
	 * goes to the slot of its due tick.
	 * @return whether the slot is empty
	 */
	private boolean cascade(int slot, long start) {
		int level = levelOf(slot);
		int digit = slot & this.mask;
		Ring ring = ring(slot >>> this.bits);
		int budget = CASCADE_STEP;
		for (Chunk chunk = ring.firstChunk(digit, budget); chunk != null; chunk = ring.firstChunk(digit, budget)) {
			int size = chunk.size();
			budget -= size;
			for (int i = 0; i < size; i++) {
				Timer timer = chunk.get(i);
				if (timer != null) {
					cascade(timer, level, start);
					ring.removeMoved(chunk, i);
				}
			}
			ring.discard(chunk);
		}
		return !ring.isOccupied(digit);
	}

	private void cascade(Timer timer, int level, long start) {
		long tick = Math.max(timer.dueTick(), start);
		if (slotNumber(tick, level) == slotNumber(start, level)) {
			appendAt(level - 1, timer, tick);
		}
		else {
			append(timer, tick);
		}
	}

	/**
	 * Takes one step of an early cascade, if one is due. The timers go to the ring of the
	 * next rotation of the level below.
	 */
	private void cascadeEarly(long now) {
		for (int level = levels() - 1; level > 0; level--) {
			long start = (slotNumber(this.clock, level) + 1) << (level * this.bits);
			int digit = digit(start, level);
			int index = ringIndex(level, start);
			Ring ring = this.rings[index];
			if (ring != null && ring.isOccupied(digit)
					&& this.earlyCascades.tickFor(level, start, ring.size()) <= now) {
				boolean emptied = cascade((index << this.bits) | digit, start);
				this.earlyCascades.stepTaken(level, start, emptied);
				return;
			}
		}
	}

	/**
	 * Determines when the first occupied slot begins, and when the driver has to be awake
	 * for it or for an early cascade.
	 */
	private void plan() {
		long due = NEVER;
		long wake = NEVER;
		for (int index = 0; index < this.rings.length; index++) {
			Ring ring = this.rings[index];
			if (ring != null && !ring.isEmpty()) {
				int level = index >>> 1;
				long start = startOf(earliestSlot(index, ring));
				due = Math.min(due, start);
				wake = Math.min(wake, (level == 0) ? start : this.earlyCascades.tickFor(level, start, ring.size()));
				ring.planned();
			}
		}
		this.nextDue = due;
		this.nextWake = wake;
	}

	/**
	 * The occupied slot that begins first, -1 if no slot is occupied. If several begin at
	 * the same tick, the slot of the highest level.
	 */
	private int earliestSlot() {
		int earliest = -1;
		long earliestStart = NEVER;
		for (int index = 0; index < this.rings.length; index++) {
			Ring ring = this.rings[index];
			if (ring != null && !ring.isEmpty()) {
				int slot = earliestSlot(index, ring);
				long start = startOf(slot);
				if (start <= earliestStart) {
					earliest = slot;
					earliestStart = start;
				}
			}
		}
		return earliest;
	}

	private int earliestSlot(int index, Ring ring) {
		int level = index >>> 1;
		int from = (index == ringIndex(level, this.clock)) ? digit(this.clock, level) : 0;
		return (index << this.bits) | ring.nextOccupied(from);
	}

	private int cascadingLevel() {
		for (int level = levels() - 1; level > 0; level--) {
			Ring ring = this.rings[ringIndex(level, this.clock)];
			if (ring != null && ring.isOccupied(digit(this.clock, level))) {
				return level;
			}
		}
		return 0;
	}

	private void append(Timer timer, long dueTick) {
		long tick = Math.max(dueTick, this.clock);
		appendAt(level(tick), timer, tick);
	}

	/**
	 * The level of the highest bit in which a tick differs from the clock.
	 */
	private int level(long tick) {
		return this.levelOf[Long.numberOfLeadingZeros((tick ^ this.clock) | 1)];
	}

	private Ring appendAt(int level, Timer timer, long tick) {
		int index = ringIndex(level, tick);
		int digit = digit(tick, level);
		Ring ring = ring(index);
		ring.append(digit, timer);
		return ring;
	}

	/**
	 * The tick at which a slot begins, by the second invariant.
	 * @param slot the number of the slot, counted through all rings
	 */
	long startOf(int slot) {
		int index = slot >>> this.bits;
		int shift = (index >>> 1) * this.bits;
		long rotation = this.clock >>> shift >>> this.bits;
		if (((rotation ^ index) & 1) != 0) {
			rotation++;
		}
		return (rotation << this.bits | (slot & this.mask)) << shift;
	}

	private int levels() {
		return this.rings.length >>> 1;
	}

	private int levelOf(int slot) {
		return slot >>> this.bits >>> 1;
	}

	private long slotNumber(long tick, int level) {
		return tick >>> (level * this.bits);
	}

	private int digit(long tick, int level) {
		return (int) slotNumber(tick, level) & this.mask;
	}

	private int ringIndex(int level, long tick) {
		return (level << 1) | ((int) (slotNumber(tick, level) >>> this.bits) & 1);
	}

	private Ring ring(int index) {
		Ring ring = this.rings[index];
		if (ring == null) {
			ring = new Ring(this.chunks, index << this.bits, this.mask + 1);
			this.rings[index] = ring;
		}
		return ring;
	}

	/**
	 * Passes all timers to a consumer, and removes them from their slots. If the consumer
	 * fails, its slot and those after it keep their timers.
	 */
	void drainTo(Consumer<Timer> consumer) {
		for (int slot = earliestSlot(); slot >= 0; slot = earliestSlot()) {
			ring(slot >>> this.bits).drainTo(slot & this.mask, consumer);
		}
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

	void addTo(WheelTotals totals) {
		for (int index = 0; index < this.rings.length; index++) {
			Ring ring = this.rings[index];
			if (ring != null) {
				totals.addLevel(index >>> 1, ring.size(), ring.occupiedSlots());
			}
		}
	}

	void addTo(WheelSlots.Sums sums) {
		for (int index = 0; index < this.rings.length; index++) {
			Ring ring = this.rings[index];
			if (ring != null) {
				sums.add(index >>> 1, ring);
			}
		}
	}

}
