package io.timingwheel;

import org.jspecify.annotations.Nullable;

/**
 * The slots of one rotation of a level: lists of linked timers, first in first out, with
 * a bitmap that tells which are occupied.
 */
final class Ring {

	private static final int WORD = 6;

	/** A growth by so many timers is worth a look at the driver's plan. */
	private static final int GROWTH = 1 << 14;

	private final @Nullable Timer[] heads;

	private final @Nullable Timer[] tails;

	private final long[] occupied;

	private int size;

	private int noticedSize;

	Ring(int slots) {
		this.heads = new Timer[slots];
		this.tails = new Timer[slots];
		this.occupied = new long[(slots + Long.SIZE - 1) >> WORD];
	}

	void append(int slot, Timer timer) {
		Timer tail = this.tails[slot];
		if (tail == null) {
			this.heads[slot] = timer;
			this.occupied[slot >> WORD] |= 1L << slot;
		}
		else {
			tail.next = timer;
			timer.previous = tail;
		}
		this.tails[slot] = timer;
		this.size++;
	}

	void unlink(int slot, Timer timer) {
		Timer previous = timer.previous;
		Timer next = timer.next;
		if (previous == null) {
			this.heads[slot] = next;
		}
		else {
			previous.next = next;
			timer.previous = null;
		}
		if (next == null) {
			this.tails[slot] = previous;
		}
		else {
			next.previous = previous;
			timer.next = null;
		}
		if (previous == null && next == null) {
			this.occupied[slot >> WORD] &= ~(1L << slot);
		}
		if (--this.size == 0) {
			this.noticedSize = 0;
		}
	}

	/**
	 * Unlinks and returns the first timer of a slot.
	 */
	@Nullable Timer poll(int slot) {
		Timer head = this.heads[slot];
		if (head != null) {
			unlink(slot, head);
		}
		return head;
	}

	/**
	 * The first occupied slot at or after the given one, -1 if there is none.
	 */
	int nextOccupied(int slot) {
		int word = slot >> WORD;
		long bits = this.occupied[word] & (-1L << slot);
		while (bits == 0) {
			if (++word == this.occupied.length) {
				return -1;
			}
			bits = this.occupied[word];
		}
		return (word << WORD) + Long.numberOfTrailingZeros(bits);
	}

	/**
	 * Whether many timers have been added since this last said so. A size that swings
	 * tells it once.
	 */
	boolean hasGrown() {
		if (this.size - this.noticedSize < GROWTH) {
			return false;
		}
		this.noticedSize = this.size;
		return true;
	}

	boolean isOccupied(int slot) {
		return this.heads[slot] != null;
	}

	boolean isEmpty() {
		return this.size == 0;
	}

	int size() {
		return this.size;
	}

	int occupiedSlots() {
		int count = 0;
		for (long word : this.occupied) {
			count += Long.bitCount(word);
		}
		return count;
	}

}
