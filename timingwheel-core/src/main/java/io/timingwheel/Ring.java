package io.timingwheel;

import org.jspecify.annotations.Nullable;

/**
 * The slots of one rotation of a level, with a bitmap of the occupied ones. A slot is a
 * linked list of {@link Chunk}s, first in first out, none of them empty.
 *
 * <p>
 * If at most a quarter of a chunk's array is in use, the chunk is packed, or merged with
 * a neighbour if both fit into half a chunk. A cancel therefore moves at most half a
 * chunk of other timers, and on average less than one timer. A slot has at most about
 * four places for each timer.
 */
final class Ring {

	private static final int WORD = 6;

	/** A growth by this many timers may call for an early cascade. */
	private static final int GROWTH = 1 << 14;

	private final Chunks chunks;

	private final int firstSlot;

	private final @Nullable Chunk[] heads;

	private final @Nullable Chunk[] tails;

	private final long[] occupied;

	private int size;

	/** The size for which {@link #planned} was called last. */
	private int plannedSize;

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
	 * Removes a timer from its chunk.
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
	 * Removes a timer that is now in another chunk. The caller discards the chunk later.
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
	 * The first chunk of a slot, null if the slot is empty or the chunk is larger than
	 * the given size.
	 */
	@Nullable Chunk firstChunk(int slot, int maxSize) {
		Chunk head = this.heads[slot];
		return (head == null || head.size() > maxSize) ? null : head;
	}

	/**
	 * Removes a chunk and its timers from their slot.
	 */
	void detach(Chunk chunk) {
		sizeChanged(-chunk.count());
		unlink(chunk);
	}

	/**
	 * Removes a chunk from its slot, and frees it for other timers.
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
			this.plannedSize = 0;
		}
	}

	/**
	 * The first occupied slot at or after the given slot, -1 if there is none.
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
	 * Whether the ring has gained so many timers that the driver's next wake-up must be
	 * planned again.
	 */
	boolean hasOutgrownItsPlan() {
		return this.size - this.plannedSize >= GROWTH;
	}

	/**
	 * Records that the next wake-up was planned for the present size.
	 */
	void planned() {
		this.plannedSize = this.size;
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
