package io.timingwheel;

import java.util.Arrays;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A part of a {@link TimerList}: timers in the order in which they were added. A
 * cancelled timer leaves a hole. The list keeps the number of holes small.
 */
final class Chunk extends Timer.Place {

	static final int CAPACITY = 256;

	private static final int MIN_LENGTH = 8;

	private static final @Nullable Timer[] NONE = new Timer[0];

	/** Null while the driver has the chunk in hand. */
	@Nullable TimerList list;

	@Nullable Chunk previous;

	@Nullable Chunk next;

	/** The timers, up to {@link #size}. The array grows with the size. */
	private @Nullable Timer[] timers;

	private int size;

	private int holes;

	/**
	 * Creates an empty chunk.
	 * @param length the length of its array at first
	 */
	Chunk(Shard shard, int length) {
		super(shard);
		this.timers = new Timer[length];
	}

	/**
	 * Creates an empty chunk that few timers may need.
	 */
	static Chunk small(Shard shard) {
		return new Chunk(shard, MIN_LENGTH);
	}

	/**
	 * Makes room for one more timer. The chunk must not be full.
	 */
	void reserve() {
		if (this.size == this.timers.length) {
			this.timers = Arrays.copyOf(this.timers, Math.max(MIN_LENGTH, 2 * this.size));
		}
	}

	/**
	 * Appends a timer, for which there is room.
	 */
	void append(Timer timer) {
		int index = this.size;
		this.timers[index] = timer;
		timer.place = this;
		timer.index = index;
		this.size = index + 1;
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
	 * Closes the holes, and appends all timers of the chunk that follows in the list.
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
	 * Removes all timers, and keeps a small array.
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
