package io.timingwheel;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The slots of one rotation of a level, with a bitmap of the occupied ones. A slot is a
 * linked list of {@link Chunk}s, first in first out, none of them empty. A timer that is
 * alone in its slot needs no chunk. A ring has arrays only for the segments of 64 slots
 * that are in use.
 *
 * <p>
 * If at most a quarter of a chunk's array is in use, the chunk is packed, or merged with
 * a neighbour if both fit into half a chunk. A cancel therefore moves at most half a
 * chunk of other timers, and on average less than one timer. A slot has at most about
 * four places for each timer.
 */
final class Ring {

	private static final int WORD = 6;

	private static final int SEGMENT = 1 << WORD;

	/** A ring with at most this many segments keeps its empty segments. */
	private static final int KEPT_SEGMENTS = 16;

	/** A growth by this many timers may call for an early cascade. */
	private static final int GROWTH = 1 << 14;

	private final Chunks chunks;

	private final int firstSlot;

	/**
	 * The slots that belong to a word of {@link #occupied}, null until used. Each slot
	 * has two places: its first chunk or its only timer, and its last chunk, which is
	 * null if the timer is alone.
	 */
	private final @Nullable Object[] @Nullable [] segments;

	private final long[] occupied;

	private int segmentCount;

	private int size;

	/** The size for which {@link #planned} was called last. */
	private int plannedSize;

	Ring(Chunks chunks, int firstSlot, int slots) {
		this.chunks = chunks;
		this.firstSlot = firstSlot;
		int words = (slots + SEGMENT - 1) >> WORD;
		this.segments = new @Nullable Object[words] @Nullable [];
		this.occupied = new long[words];
	}

	void append(int slot, Timer timer) {
		@Nullable Object[] segment = this.segments[slot >> WORD];
		if (segment == null) {
			segment = create(slot >> WORD);
		}
		int head = head(slot);
		Chunk tail = (Chunk) segment[head + 1];
		if (tail != null && !tail.isFull()) {
			tail.append(timer);
		}
		else if (segment[head] == null) {
			segment[head] = timer;
			timer.standAlone(this.firstSlot + slot);
			this.occupied[slot >> WORD] |= 1L << slot;
		}
		else {
			extend(segment, slot).append(timer);
		}
		this.size++;
	}

	/**
	 * The first place of a slot in its segment. The last chunk is in the place after it.
	 */
	private static int head(int slot) {
		return (slot & (SEGMENT - 1)) << 1;
	}

	private @Nullable Object[] create(int word) {
		@Nullable Object[] segment = new Object[2 * SEGMENT];
		this.segments[word] = segment;
		this.segmentCount++;
		return segment;
	}

	/**
	 * Adds a chunk to an occupied slot.
	 */
	private Chunk extend(@Nullable Object[] segment, int slot) {
		int head = head(slot);
		Chunk chunk = this.chunks.take(this.firstSlot + slot);
		Chunk tail = (Chunk) segment[head + 1];
		try {
			if (tail != null) {
				chunk.reserve();
				chunk.previous = tail;
				tail.next = chunk;
			}
			else {
				if (segment[head] instanceof Timer only) {
					chunk.append(only);
				}
				segment[head] = chunk;
			}
		}
		catch (OutOfMemoryError ex) {
			// There is no array for the chunk, and nothing refers to the chunk yet.
			this.chunks.release(chunk);
			throw ex;
		}
		segment[head + 1] = chunk;
		return chunk;
	}

	/**
	 * Removes the only timer of a slot, which has no chunk.
	 */
	void removeOnly(int slot) {
		@Nullable Object[] segment = this.segments[slot >> WORD];
		if (segment != null) {
			segment[head(slot)] = null;
			emptied(slot);
			sizeChanged(-1);
		}
	}

	/**
	 * Removes the timer at a position of a chunk.
	 */
	void remove(Chunk chunk, int position) {
		chunk.remove(chunk.indexAt(position));
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
		try {
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
		catch (OutOfMemoryError ex) {
			// The next cancel tries again. This one has removed its timer.
		}
	}

	private void release(Chunk chunk) {
		unlink(chunk);
		this.chunks.release(chunk);
	}

	/**
	 * The first chunk of a slot, null if the slot is empty or the chunk is larger than
	 * the given size. Puts a timer that is alone into a chunk.
	 */
	@Nullable Chunk firstChunk(int slot, int maxSize) {
		@Nullable Object[] segment = this.segments[slot >> WORD];
		Object head = (segment != null) ? segment[head(slot)] : null;
		if (segment == null || head == null || maxSize < 1) {
			return null;
		}
		Chunk first = (head instanceof Chunk chunk) ? chunk : extend(segment, slot);
		return (first.size() > maxSize) ? null : first;
	}

	/**
	 * Passes the timers of a slot to a consumer.
	 */
	void forEach(int slot, Consumer<Timer> consumer) {
		@Nullable Object[] segment = this.segments[slot >> WORD];
		Object head = (segment != null) ? segment[head(slot)] : null;
		if (head instanceof Timer only) {
			consumer.accept(only);
		}
		for (Chunk chunk = (head instanceof Chunk first) ? first : null; chunk != null; chunk = chunk.next) {
			chunk.forEach(consumer);
		}
	}

	/**
	 * Passes the timers of a slot to a consumer, and then removes them.
	 */
	void drainTo(int slot, Consumer<Timer> consumer) {
		forEach(slot, consumer);
		@Nullable Object[] segment = this.segments[slot >> WORD];
		Object head = (segment != null) ? segment[head(slot)] : null;
		if (head instanceof Timer) {
			removeOnly(slot);
		}
		Chunk chunk = (head instanceof Chunk first) ? first : null;
		while (chunk != null) {
			Chunk next = chunk.next;
			discard(chunk);
			chunk = next;
		}
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
		@Nullable Object[] segment = this.segments[slot >> WORD];
		if (segment == null) {
			return;
		}
		int head = head(slot);
		Chunk previous = chunk.previous;
		Chunk next = chunk.next;
		if (previous == null) {
			segment[head] = next;
		}
		else {
			previous.next = next;
			chunk.previous = null;
		}
		if (next == null) {
			segment[head + 1] = previous;
		}
		else {
			next.previous = previous;
			chunk.next = null;
		}
		if (previous == null && next == null) {
			emptied(slot);
		}
	}

	private void emptied(int slot) {
		int word = slot >> WORD;
		this.occupied[word] &= ~(1L << slot);
		if (this.occupied[word] == 0 && this.segmentCount > KEPT_SEGMENTS) {
			this.segments[word] = null;
			this.segmentCount--;
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
		return (this.occupied[slot >> WORD] & (1L << slot)) != 0;
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

	/**
	 * The number of segments that have an array.
	 */
	int segments() {
		return this.segmentCount;
	}

}
