package io.timingwheel;

import org.jspecify.annotations.Nullable;

/**
 * The slots of one rotation of a level, with a bitmap that tells which are occupied. A
 * slot is a list of linked {@link Chunk}s, first in first out, none of them empty.
 *
 * <p>
 * A chunk that is used to a quarter only is packed, or merged with its neighbour if both
 * fit in half a chunk. So a cancel moves other timers rarely, less than one on average
 * and at most half a chunk, and the places in chunks are at most some four per timer.
 */
final class Ring {

	private static final int WORD = 6;

	/** A growth by so many timers is worth a look at the driver's plan. */
	private static final int GROWTH = 1 << 14;

	private final Chunks chunks;

	private final int firstSlot;

	private final @Nullable Chunk[] heads;

	private final @Nullable Chunk[] tails;

	private final long[] occupied;

	private int size;

	private int noticedSize;

	Ring(Chunks chunks, int firstSlot, int slots) {
		this.chunks = chunks;
		this.firstSlot = firstSlot;
		this.heads = new Chunk[slots];
		this.tails = new Chunk[slots];
		this.occupied = new long[(slots + Long.SIZE - 1) >> WORD];
	}

	void append(int slot, Timer timer) {
		Chunk tail = this.tails[slot];
		if (tail == null || tail.isFull()) {
			tail = extend(slot, tail);
		}
		tail.append(timer);
		this.size++;
	}

	private Chunk extend(int slot, @Nullable Chunk tail) {
		Chunk chunk = this.chunks.take(this.firstSlot + slot);
		if (tail != null) {
			chunk.reserve();
		}
		chunk.previous = tail;
		if (tail == null) {
			this.heads[slot] = chunk;
			this.occupied[slot >> WORD] |= 1L << slot;
		}
		else {
			tail.next = chunk;
		}
		this.tails[slot] = chunk;
		return chunk;
	}

	/**
	 * Removes a timer from the chunk in which it stands.
	 */
	void remove(Chunk chunk, Timer timer) {
		chunk.remove(chunk.indexOf(timer));
		sizeChanged(-1);
		if (chunk.count() == 0) {
			release(chunk);
		}
		else if (chunk.isSparse()) {
			pack(chunk);
		}
	}

	/**
	 * Removes a timer that was put elsewhere from a chunk that will be discarded.
	 */
	void removeMoved(Chunk chunk, int index) {
		chunk.remove(index);
		sizeChanged(-1);
	}

	private void pack(Chunk chunk) {
		Chunk previous = chunk.previous;
		Chunk next = chunk.next;
		if (next != null && chunk.isSparseWith(next)) {
			chunk.absorb(next);
			release(next);
		}
		else if (previous != null && chunk.isSparseWith(previous)) {
			previous.absorb(chunk);
			release(chunk);
		}
		else {
			chunk.absorb(null);
		}
	}

	private void release(Chunk chunk) {
		unlink(chunk);
		this.chunks.release(chunk);
	}

	/**
	 * The first chunk of a slot; null if there is none or its size is beyond the limit.
	 */
	@Nullable Chunk first(int slot, int limit) {
		Chunk head = this.heads[slot];
		return (head == null || head.size() > limit) ? null : head;
	}

	/**
	 * Takes a chunk out of its slot.
	 */
	void detach(Chunk chunk) {
		sizeChanged(-chunk.count());
		unlink(chunk);
	}

	/**
	 * Takes a chunk out whose timers have been taken care of.
	 */
	void discard(Chunk chunk) {
		detach(chunk);
		this.chunks.release(chunk);
	}

	private void unlink(Chunk chunk) {
		int slot = chunk.slot - this.firstSlot;
		Chunk previous = chunk.previous;
		Chunk next = chunk.next;
		if (previous == null) {
			this.heads[slot] = next;
		}
		else {
			previous.next = next;
			chunk.previous = null;
		}
		if (next == null) {
			this.tails[slot] = previous;
		}
		else {
			next.previous = previous;
			chunk.next = null;
		}
		if (previous == null && next == null) {
			this.occupied[slot >> WORD] &= ~(1L << slot);
		}
	}

	private void sizeChanged(int by) {
		this.size += by;
		if (this.size == 0) {
			this.noticedSize = 0;
		}
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
