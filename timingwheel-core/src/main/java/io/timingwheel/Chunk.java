package io.timingwheel;

import java.util.Arrays;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A piece of a slot: timers in the order in which they came. One that is cancelled leaves
 * a hole; {@link Ring} sees to it that there are not too many.
 */
final class Chunk {

	/** The bits of a timer's position that are its index. */
	static final int INDEX_BITS = 8;

	static final int CAPACITY = 1 << INDEX_BITS;

	private static final int MIN_LENGTH = 8;

	private static final @Nullable Timer[] NONE = new Timer[0];

	/** The timers up to {@link #size}; the array grows with it. */
	private @Nullable Timer[] timers = NONE;

	/** The position of the first timer. */
	private final int firstPosition;

	private int size;

	private int holes;

	/** The slot, numbered through all levels of the wheel. */
	int slot;

	@Nullable Chunk previous;

	@Nullable Chunk next;

	Chunk(int id) {
		this.firstPosition = id << INDEX_BITS;
	}

	/**
	 * Makes room at once for as many as there can be.
	 */
	void reserve() {
		this.timers = new Timer[CAPACITY];
	}

	/**
	 * Adds a timer to one that is not full.
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

	int indexOf(Timer timer) {
		return timer.position - this.firstPosition;
	}

	void remove(int index) {
		@Nullable Timer[] timers = this.timers;
		timers[index] = null;
		if (index < this.size - 1) {
			this.holes++;
			return;
		}
		// The holes at the end are free places.
		while (index > 0 && timers[index - 1] == null) {
			index--;
			this.holes--;
		}
		this.size = index;
	}

	/**
	 * Closes the holes, and takes all timers of another over that comes after this one.
	 */
	void absorb(@Nullable Chunk other) {
		@Nullable Timer[] own = this.timers;
		int ownSize = this.size;
		int total = count() + ((other != null) ? other.count() : 0);
		this.timers = new Timer[Math.max(MIN_LENGTH, Integer.highestOneBit(2 * total - 1))];
		this.size = 0;
		this.holes = 0;
		appendAll(own, ownSize);
		if (other != null) {
			appendAll(other.timers, other.size);
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
	 * Empties it.
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
	 * Gives its array away; the size remains as it was.
	 */
	@Nullable Timer[] takeTimers() {
		@Nullable Timer[] timers = this.timers;
		this.timers = NONE;
		return timers;
	}

	/**
	 * The timer at an index below {@link #size}, null if it is a hole.
	 */
	@Nullable Timer get(int index) {
		return this.timers[index];
	}

	/**
	 * How many places are in use, holes included.
	 */
	int size() {
		return this.size;
	}

	/**
	 * How many timers there are.
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

	boolean isSparseWith(@Nullable Chunk other) {
		return other != null && count() + other.count() <= CAPACITY / 2;
	}

}
