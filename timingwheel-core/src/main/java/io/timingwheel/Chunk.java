package io.timingwheel;

import java.util.Arrays;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A part of a slot: timers in the order in which they were added. A cancelled timer
 * leaves a hole. The {@link Ring} keeps the number of holes small.
 */
final class Chunk {

	/** The bits of a timer's position that are its index. */
	static final int INDEX_BITS = 8;

	static final int CAPACITY = 1 << INDEX_BITS;

	private static final int MIN_LENGTH = 8;

	/** The value of {@link #slot} while the driver has the chunk in hand. */
	static final int IN_HAND = -1;

	private static final @Nullable Timer[] NONE = new Timer[0];

	/** The timers, up to {@link #size}. The array grows with the size. */
	private @Nullable Timer[] timers = NONE;

	/** The position of the first timer. */
	private final int firstPosition;

	private int size;

	private int holes;

	/** The number of the slot, counted through all rings of the wheel. */
	int slot;

	@Nullable Chunk previous;

	@Nullable Chunk next;

	Chunk(int id) {
		this.firstPosition = id << INDEX_BITS;
	}

	/**
	 * Makes room for as many timers as a chunk can hold.
	 */
	void reserve() {
		this.timers = new Timer[CAPACITY];
	}

	/**
	 * Appends a timer. The chunk must not be full.
	 */
	void append(Timer timer) {
		int index = this.size;
		@Nullable Timer[] timers = this.timers;
		if (index == timers.length) {
			timers = Arrays.copyOf(timers, Math.max(MIN_LENGTH, 2 * index));
			this.timers = timers;
		}
		timers[index] = timer;
		timer.position = this.firstPosition + index;
		this.size = index + 1;
	}

	int id() {
		return this.firstPosition >>> INDEX_BITS;
	}

	/**
	 * The index of the timer at a position.
	 */
	int indexAt(int position) {
		return position - this.firstPosition;
	}

	void remove(int index) {
		@Nullable Timer[] timers = this.timers;
		timers[index] = null;
		if (index < this.size - 1) {
			this.holes++;
			return;
		}
		// Holes at the end are free places.
		while (index > 0 && timers[index - 1] == null) {
			index--;
			this.holes--;
		}
		this.size = index;
	}

	/**
	 * Closes the holes, and appends all timers of the given chunk, which follows this one
	 * in the slot.
	 */
	void absorb(@Nullable Chunk following) {
		@Nullable Timer[] own = this.timers;
		int ownSize = this.size;
		int total = count() + ((following != null) ? following.count() : 0);
		this.timers = new Timer[Math.max(MIN_LENGTH, Integer.highestOneBit(2 * total - 1))];
		this.size = 0;
		this.holes = 0;
		appendAll(own, ownSize);
		if (following != null) {
			appendAll(following.timers, following.size);
		}
	}

	private void appendAll(@Nullable Timer[] timers, int size) {
		for (int i = 0; i < size; i++) {
			Timer timer = timers[i];
			if (timer != null) {
				append(timer);
			}
		}
	}

	void forEach(Consumer<Timer> consumer) {
		for (int i = 0; i < this.size; i++) {
			Timer timer = this.timers[i];
			if (timer != null) {
				consumer.accept(timer);
			}
		}
	}

	/**
	 * Removes all timers.
	 */
	void clear() {
		if (this.timers.length == MIN_LENGTH) {
			Arrays.fill(this.timers, null);
		}
		else {
			this.timers = NONE;
		}
		this.size = 0;
		this.holes = 0;
	}

	/**
	 * Marks the chunk as in hand and gives its array away. The size remains.
	 */
	@Nullable Timer[] takeInHand() {
		@Nullable Timer[] timers = this.timers;
		this.timers = NONE;
		this.slot = IN_HAND;
		return timers;
	}

	/**
	 * Takes back the array that {@link #takeInHand} has given away, unless the array is
	 * too large to be kept. No timer of the array is in use.
	 */
	void takeBack(@Nullable Timer[] timers) {
		if (timers.length == MIN_LENGTH) {
			Arrays.fill(timers, null);
			this.timers = timers;
		}
	}

	/**
	 * Whether the driver has the chunk in hand. The chunk is then in no slot.
	 */
	boolean isInHand() {
		return this.slot == IN_HAND;
	}

	/**
	 * The timer at an index below {@link #size}, null if it is a hole.
	 */
	@Nullable Timer get(int index) {
		return this.timers[index];
	}

	/**
	 * The number of places in use, holes included.
	 */
	int size() {
		return this.size;
	}

	/**
	 * The number of timers.
	 */
	int count() {
		return this.size - this.holes;
	}

	boolean isFull() {
		return this.size == CAPACITY;
	}

	/**
	 * Whether at most a quarter of the array is in use.
	 */
	boolean isSparse() {
		return this.timers.length > MIN_LENGTH && 4 * count() <= this.timers.length;
	}

	/**
	 * Whether the timers of both chunks fit into half a chunk.
	 */
	boolean isSparseWith(Chunk other) {
		return count() + other.count() <= CAPACITY / 2;
	}

}
