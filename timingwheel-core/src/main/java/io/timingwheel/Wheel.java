package io.timingwheel;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A hierarchical timing wheel for one thread at a time, after scheme 7 of Varghese and
 * Lauck, "Hashed and Hierarchical Timing Wheels" (SOSP 1987). Time is a parameter, in
 * ticks.
 *
 * <p>
 * A timer stands at the level of the highest bit in which its deadline differs from the
 * clock, in the slot that the deadline's bits of this level select. So the levels cover
 * all of {@code long}, the timers of a slot share the bits above it, and a timer moves
 * down at most once per level. The clock jumps from one occupied slot to the next. When
 * it reaches a slot of a higher level, that slot's timers cascade into the level below;
 * at the lowest level they expire.
 *
 * <p>
 * A crowded slot cascades ahead of its time, while nothing is due: each level has two
 * rings of slots, used in turn by its even and odd rotations, so that the timers of the
 * next rotation can be laid out while the present one runs.
 *
 * <p>
 * No call moves more than a bounded number of timers. A slot that is not emptied at once
 * remains the next to be served. Until it is empty, timers that belong to its span are
 * appended to it rather than to the levels below, so that a timer never overtakes another
 * with the same deadline that was scheduled before it.
 */
final class Wheel {

	/** No occupied slot. */
	static final long NEVER = Long.MAX_VALUE;

	/** How many timers one call moves down. */
	private static final int CASCADE_BATCH = 512;

	/** How long that takes for each in a JVM that is not warm; later it is a third. */
	private static final int CASCADE_NANOS = 192;

	private final int bits;

	private final int mask;

	/** How many timers cascade within a tick. */
	private final long cascadesPerTick;

	/** The level of a difference, by its number of leading zeros. */
	private final byte[] levelOf = new byte[Long.SIZE];

	private final Chunks chunks = new Chunks();

	/**
	 * The chunk whose timers the driver has in hand. Until it comes back the wheel's next
	 * slot is the chunk's, so that nothing overtakes those that the driver puts back.
	 */
	private @Nullable Chunk inHand;

	/** Two for each level; null until used. */
	private final @Nullable Ring[] rings;

	/** By level, the start of the slot that began to cascade ahead of its time. */
	private final long[] preparing;

	/** By level, the start of the slot that has done so. */
	private final long[] prepared;

	/** No occupied slot begins before this tick. */
	private long clock;

	/** The highest level with a slot that has begun and must cascade, 0 if none has. */
	private int cascading;

	/** A lower bound of the start of the first occupied slot. */
	private volatile long nextDue = NEVER;

	/** The same, or earlier if a slot is to cascade ahead of its time. */
	private volatile long nextWake = NEVER;

	/**
	 * Creates an empty wheel whose clock is at 0.
	 * @param size the number of slots per level, a power of two
	 * @param tickNanos the duration of a tick
	 */
	Wheel(int size, long tickNanos) {
		this.bits = Integer.numberOfTrailingZeros(size);
		this.mask = size - 1;
		this.cascadesPerTick = Math.max(1, tickNanos / CASCADE_NANOS);
		int levels = (Long.SIZE - 2) / this.bits + 1;
		this.rings = new Ring[2 * levels];
		this.preparing = new long[levels];
		this.prepared = new long[levels];
		for (int bit = 0; bit < Long.SIZE; bit++) {
			this.levelOf[Long.SIZE - 1 - bit] = (byte) (bit / this.bits);
		}
	}

	/**
	 * Puts a timer where it belongs.
	 * @param now the current tick
	 * @return the tick at which the driver has to be awake for it, {@link #NEVER} if it
	 * will be anyway
	 */
	long place(Timer timer, long when, long now) {
		long due = this.nextDue;
		if (now > this.clock && now < due) {
			// Nothing to serve up to now: seen from here, the timer stands lower.
			this.clock = now;
		}
		long tick = Math.max(when, this.clock);
		int level = Math.max(this.cascading, level(tick));
		Ring ring = appendAt(level, timer, tick);
		long start = slotNumber(tick, level) << (level * this.bits);
		if (start < due) {
			this.nextDue = start;
			this.nextWake = Math.min(this.nextWake, start);
			return start;
		}
		if (this.inHand == null && ring.hasGrown()) {
			long wake = this.nextWake;
			plan();
			return (this.nextWake < wake) ? this.nextWake : NEVER;
		}
		return NEVER;
	}

	/**
	 * Removes a timer that has ended. What the driver has in hand it finds out itself.
	 */
	void remove(Timer timer) {
		Chunk chunk = this.chunks.of(timer);
		if (chunk != this.inHand) {
			ring(chunk.slot >>> this.bits).remove(chunk, timer);
		}
	}

	/**
	 * Whether a timer has to be moved for a new deadline: its slot would come too late.
	 */
	boolean isTooLate(Timer timer, long when) {
		return startOf(this.chunks.of(timer).slot) > Math.max(when, this.clock);
	}

	/**
	 * Serves the first occupied slot if it has begun: cascades some of its timers or
	 * gives some to the driver. If none has begun, lets a crowded slot cascade that is
	 * about to begin. If it begins later than {@link #nextDue} has said, corrects that
	 * only: timers of another wheel may come before it. What the driver got before has
	 * been taken care of.
	 * @param now the current tick
	 * @param batch takes what is due; empty
	 */
	void advance(long now, Batch batch) {
		releaseInHand();
		int slot = first();
		long start = (slot < 0) ? NEVER : startOf(slot);
		if (start == this.nextDue) {
			if (start > now) {
				this.clock = Math.max(this.clock, now);
				prepare(now);
			}
			else {
				this.clock = Math.max(this.clock, start);
				if (levelOf(slot) == 0) {
					expire(slot, batch);
				}
				else {
					cascade(slot, start);
				}
			}
		}
		this.cascading = cascadingLevel();
		if (this.inHand == null) {
			plan();
		}
	}

	private void releaseInHand() {
		Chunk chunk = this.inHand;
		if (chunk != null) {
			this.inHand = null;
			this.chunks.release(chunk);
		}
	}

	/**
	 * Gives the driver the first chunk of a slot. Its timers are still pending: each
	 * expires when its turn comes, unless it was cancelled or moved until then.
	 */
	private void expire(int slot, Batch batch) {
		Ring ring = ring(slot >>> this.bits);
		Chunk chunk = ring.first(slot & this.mask, Chunk.CAPACITY);
		if (chunk != null) {
			ring.detach(chunk);
			this.inHand = chunk;
			batch.fill(chunk.takeTimers(), chunk.size(), this.clock);
		}
	}

	/**
	 * Moves timers of a slot to the level below. Timers whose deadline has been moved
	 * past the slot go where they belong.
	 * @return whether the slot is empty
	 */
	private boolean cascade(int slot, long start) {
		int level = levelOf(slot);
		int digit = slot & this.mask;
		Ring ring = ring(slot >>> this.bits);
		int budget = CASCADE_BATCH;
		for (Chunk chunk = ring.first(digit, budget); chunk != null; chunk = ring.first(digit, budget)) {
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
		long tick = Math.max(timer.when(), start);
		if (slotNumber(tick, level) == slotNumber(start, level)) {
			appendAt(level - 1, timer, tick);
		}
		else {
			append(timer, tick);
		}
	}

	/**
	 * Lets the slots cascade that come next at their level and are so crowded that it is
	 * time. The timers go to the ring of the next rotation below.
	 */
	private void prepare(long now) {
		for (int level = this.prepared.length - 1; level > 0; level--) {
			long number = slotNumber(this.clock, level) + 1;
			long start = number << (level * this.bits);
			int index = ringIndex(level, start);
			Ring ring = this.rings[index];
			if (ring != null && ring.isOccupied(digit(start, level)) && start - lead(level, start, ring) <= now) {
				this.preparing[level] = start;
				if (cascade((index << this.bits) | digit(start, level), start)) {
					this.prepared[level] = start;
				}
				return;
			}
		}
	}

	/**
	 * How many ticks before its start a slot should cascade: none if that takes less than
	 * a tick, and as many as the slot before it has at most, also once it has begun to.
	 */
	private long lead(int level, long start, Ring ring) {
		if (this.prepared[level] == start) {
			return 0;
		}
		long span = 1L << (level * this.bits);
		return (this.preparing[level] == start) ? span : Math.min(ring.size() / this.cascadesPerTick, span);
	}

	/**
	 * Says when the first slot has to be served, and when it is time to prepare one.
	 */
	private void plan() {
		long due = NEVER;
		long wake = NEVER;
		for (int index = 0; index < this.rings.length; index++) {
			Ring ring = this.rings[index];
			if (ring != null && !ring.isEmpty()) {
				int level = index >>> 1;
				long start = startOf(first(index, ring));
				due = Math.min(due, start);
				wake = Math.min(wake, (level == 0) ? start : start - lead(level, start, ring));
			}
		}
		this.nextDue = due;
		this.nextWake = wake;
	}

	/**
	 * The occupied slot that begins first, that of the highest level if there are
	 * several; -1 if there is none.
	 */
	private int first() {
		int first = -1;
		long earliest = NEVER;
		for (int index = 0; index < this.rings.length; index++) {
			Ring ring = this.rings[index];
			if (ring != null && !ring.isEmpty()) {
				int slot = first(index, ring);
				long start = startOf(slot);
				if (start <= earliest) {
					first = slot;
					earliest = start;
				}
			}
		}
		return first;
	}

	private int first(int index, Ring ring) {
		int level = index >>> 1;
		int from = (index == ringIndex(level, this.clock)) ? digit(this.clock, level) : 0;
		return (index << this.bits) | ring.nextOccupied(from);
	}

	private int cascadingLevel() {
		for (int level = this.prepared.length - 1; level > 0; level--) {
			Ring ring = this.rings[ringIndex(level, this.clock)];
			if (ring != null && ring.isOccupied(digit(this.clock, level))) {
				return level;
			}
		}
		return 0;
	}

	private void append(Timer timer, long when) {
		long tick = Math.max(when, this.clock);
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
	 * The tick at which a slot begins. A ring is that of the clock's rotation or that of
	 * the next.
	 */
	private long startOf(int slot) {
		int index = slot >>> this.bits;
		int shift = (index >>> 1) * this.bits;
		long rotation = this.clock >>> shift >>> this.bits;
		if (((rotation ^ index) & 1) != 0) {
			rotation++;
		}
		return (rotation << this.bits | (slot & this.mask)) << shift;
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
	 * Takes all timers out.
	 */
	void drainTo(Consumer<Timer> consumer) {
		for (int slot = first(); slot >= 0; slot = first()) {
			Ring ring = ring(slot >>> this.bits);
			Chunk chunk = ring.first(slot & this.mask, Chunk.CAPACITY);
			if (chunk != null) {
				chunk.forEach(consumer);
				ring.discard(chunk);
			}
		}
	}

	/**
	 * The first tick at which something may be due. May be read by any thread.
	 */
	long nextDue() {
		return this.nextDue;
	}

	/**
	 * The first tick at which there may be something to do. May be read by any thread.
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

}
