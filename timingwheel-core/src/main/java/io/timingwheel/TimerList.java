package io.timingwheel;

import java.util.Arrays;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Timers of a shard, first in first out: a slot of the wheel, or timers that wait for
 * their executor. The list consists of {@link Chunk}s. A timer that is alone in its list
 * needs no chunk.
 */
final class TimerList extends Timer.Place {

	/** The {@link #slot} of a list that is no slot of the wheel. */
	static final int NO_SLOT = -1;

	/** The number of the slot, counted through all levels of the wheel. */
	final int slot;

	/** The only timer, or the first chunk. Null if the list is empty. */
	private @Nullable Object head;

	/** The last chunk, null if there is no chunk. */
	private @Nullable Chunk tail;

	private int size;

	TimerList(Shard shard, int slot) {
		super(shard);
		this.slot = slot;
	}

	void append(Timer timer) {
		Chunk chunk = reserve();
		if (chunk != null) {
			chunk.append(timer);
		}
		else {
			this.head = timer;
			timer.place = this;
		}
		this.size++;
	}

	/**
	 * Makes room, so that the next {@link #append} needs no memory. Returns null if the
	 * timer will be alone.
	 */
	@Nullable Chunk reserve() {
		Chunk tail = this.tail;
		if (tail != null && tail.size < Chunk.CAPACITY) {
			tail.reserve();
			return tail;
		}
		return (this.head != null) ? extend(tail) : null;
	}

	private Chunk extend(@Nullable Chunk tail) {
		Chunk chunk = new Chunk(this.shard, (tail != null) ? Chunk.CAPACITY : Chunk.MIN_LENGTH);
		chunk.list = this;
		if (tail != null) {
			chunk.previous = tail;
			tail.next = chunk;
		}
		else {
			if (this.head instanceof Timer only) {
				chunk.append(only);
			}
			this.head = chunk;
		}
		this.tail = chunk;
		return chunk;
	}

	/** The place and index are those that the timer has, or had, in this list. */
	void remove(Timer.Place place, int index) {
		this.size--;
		if (!(place instanceof Chunk chunk)) {
			this.head = null;
			return;
		}
		chunk.remove(index);
		if (chunk.count() == 0) {
			unlink(chunk);
		}
		else if (chunk.isSparse()) {
			chunk.pack();
		}
	}

	private void unlink(Chunk chunk) {
		Chunk previous = chunk.previous;
		Chunk next = chunk.next;
		if (previous != null) {
			previous.next = next;
		}
		else {
			this.head = next;
		}
		if (next != null) {
			next.previous = previous;
		}
		else {
			this.tail = previous;
		}
		chunk.previous = null;
		chunk.next = null;
		chunk.list = null;
	}

	/** Removes the first chunk with its timers. The spare one takes a lone timer. */
	Chunk takeChunk(Chunk spare) {
		if (this.head instanceof Chunk first) {
			this.size -= first.count();
			unlink(first);
			return first;
		}
		if (this.head instanceof Timer only) {
			spare.append(only);
			clear();
		}
		return spare;
	}

	@Nullable Timer first() {
		if (!(this.head instanceof Chunk chunk)) {
			return (Timer) this.head;
		}
		int index = 0;
		while (chunk.get(index) == null) {
			index++;
		}
		return chunk.get(index);
	}

	/** Removes each timer of the first chunk only after the consumer has taken it. */
	void moveFirst(Consumer<Timer> consumer) {
		if (this.head instanceof Chunk chunk) {
			for (int i = 0; i < chunk.size; i++) {
				Timer timer = chunk.get(i);
				if (timer != null) {
					consumer.accept(timer);
					chunk.remove(i);
					this.size--;
				}
			}
			unlink(chunk);
		}
		else if (this.head instanceof Timer only) {
			consumer.accept(only);
			clear();
		}
	}

	void forEach(Consumer<Timer> consumer) {
		if (this.head instanceof Timer only) {
			consumer.accept(only);
		}
		for (Chunk chunk = (this.head instanceof Chunk first) ? first : null; chunk != null; chunk = chunk.next) {
			chunk.forEach(consumer);
		}
	}

	void clear() {
		this.head = null;
		this.tail = null;
		this.size = 0;
	}

	boolean isEmpty() {
		return this.size == 0;
	}

	int size() {
		return this.size;
	}

	/**
	 * A part of a list: timers in the order in which they came. A cancelled timer leaves
	 * a hole. A chunk with at most a quarter of its array in use is packed, so on average
	 * a removal moves less than one other timer.
	 */
	static final class Chunk extends Timer.Place {

		static final int CAPACITY = 256;

		static final int MIN_LENGTH = 8;

		private static final @Nullable Timer[] NONE = new Timer[0];

		/** Null once the chunk has left its list. */
		@Nullable TimerList list;

		private @Nullable Chunk previous;

		private @Nullable Chunk next;

		/** The timers, up to {@link #size}. */
		private @Nullable Timer[] timers;

		private int size;

		private int holes;

		Chunk(Shard shard, int length) {
			super(shard);
			this.timers = new Timer[length];
		}

		private void reserve() {
			if (this.size == this.timers.length) {
				this.timers = Arrays.copyOf(this.timers, Math.max(MIN_LENGTH, 2 * this.size));
			}
		}

		private void append(Timer timer) {
			int index = this.size;
			this.timers[index] = timer;
			timer.place = this;
			timer.index = index;
			this.size = index + 1;
		}

		private void remove(int index) {
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

		private boolean isSparse() {
			return this.timers.length > MIN_LENGTH && 4 * count() <= this.timers.length;
		}

		private void pack() {
			@Nullable Timer[] packed;
			try {
				packed = new Timer[Math.max(MIN_LENGTH, Integer.highestOneBit(2 * count() - 1))];
			}
			catch (OutOfMemoryError ex) {
				// The next removal tries again. This one has removed its timer.
				return;
			}
			@Nullable Timer[] sparse = this.timers;
			int end = this.size;
			this.timers = packed;
			this.size = 0;
			this.holes = 0;
			for (int i = 0; i < end; i++) {
				Timer timer = sparse[i];
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

		/** Null if there is a hole. */
		@Nullable Timer get(int index) {
			return this.timers[index];
		}

		/** Counts holes, too. */
		int size() {
			return this.size;
		}

		private int count() {
			return this.size - this.holes;
		}

	}

}
