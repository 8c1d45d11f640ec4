package io.timingwheel;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The chunks of a wheel by number. A timer stores the number of its chunk instead of a
 * reference. Empty chunks with a low number are kept and used again. Of the others, only
 * the number is used again, so that a flood of timers leaves nothing behind.
 */
final class Chunks {

	/** The first number of a chunk that is not kept when it is empty. */
	private static final int KEPT = 256;

	private static final int MIN_LENGTH = 16;

	/** Null where the chunk with this number was given up. */
	private Chunk[] byId = new Chunk[MIN_LENGTH];

	/** All numbers that were ever used are lower. */
	private int size;

	/** The empty chunks that are kept, linked by {@link Chunk#next}. */
	private @Nullable Chunk free;

	/** The numbers of the chunks that were given up. */
	private int[] freeIds = new int[MIN_LENGTH];

	private int freeIdCount;

	/** The arrays shrink when so few numbers are in use. 0 if they are small already. */
	private int shrinkAt;

	/**
	 * The chunk that contains a timer, which is not alone in its slot.
	 */
	Chunk of(Timer timer) {
		return at(timer.position);
	}

	/**
	 * The chunk to which a position belongs.
	 */
	Chunk at(int position) {
		return this.byId[position >>> Chunk.INDEX_BITS];
	}

	/**
	 * An empty chunk for a slot.
	 */
	Chunk take(int slot) {
		Chunk chunk = this.free;
		if (chunk == null) {
			chunk = create();
		}
		else {
			this.free = chunk.next;
			chunk.next = null;
		}
		chunk.slot = slot;
		return chunk;
	}

	private Chunk create() {
		boolean again = this.freeIdCount > 0;
		int id = again ? this.freeIds[this.freeIdCount - 1] : this.size;
		if (id == this.byId.length) {
			this.byId = Arrays.copyOf(this.byId, 2 * id);
		}
		Chunk chunk = new Chunk(id);
		this.byId[id] = chunk;
		if (again) {
			this.freeIdCount--;
		}
		else {
			this.size++;
		}
		int quarter = inUse() / 4;
		if (quarter >= KEPT && quarter > this.shrinkAt) {
			this.shrinkAt = quarter;
		}
		return chunk;
	}

	private int inUse() {
		return this.size - this.freeIdCount;
	}

	/**
	 * Takes back a chunk that is no longer in a slot.
	 */
	void release(Chunk chunk) {
		int id = chunk.id();
		if (id < KEPT) {
			chunk.clear();
			chunk.next = this.free;
			this.free = chunk;
		}
		else {
			giveUp(id);
		}
	}

	@SuppressWarnings("NullAway")
	private void giveUp(int id) {
		this.byId[id] = null;
		try {
			if (this.freeIdCount == this.freeIds.length) {
				this.freeIds = Arrays.copyOf(this.freeIds, 2 * this.freeIdCount);
			}
			this.freeIds[this.freeIdCount++] = id;
			if (inUse() <= this.shrinkAt) {
				shrink();
			}
		}
		catch (OutOfMemoryError ex) {
			// The number is not used again, or the arrays stay long. A caller that has
			// removed a timer must not fail because of that.
		}
	}

	/**
	 * Gives up the highest numbers if they are free. Half of the numbers in use must
	 * become free until the next attempt.
	 */
	private void shrink() {
		this.shrinkAt = (inUse() > KEPT) ? Math.max(KEPT, inUse() / 2) : 0;
		int size = this.size;
		while (this.byId[size - 1] == null) {
			size--;
		}
		int count = 0;
		for (int i = 0; i < this.freeIdCount; i++) {
			if (this.freeIds[i] < size) {
				this.freeIds[count++] = this.freeIds[i];
			}
		}
		this.size = size;
		this.freeIdCount = count;
		this.byId = Arrays.copyOf(this.byId, lengthFor(size));
		this.freeIds = Arrays.copyOf(this.freeIds, lengthFor(count));
	}

	/**
	 * The length of the arrays together.
	 */
	int capacity() {
		return this.byId.length + this.freeIds.length;
	}

	private static int lengthFor(int size) {
		return Math.max(MIN_LENGTH, Integer.highestOneBit(Math.max(1, 2 * size - 1)));
	}

}
