package io.timingwheel;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The chunks of a wheel by number. A timer stores the number of its chunk instead of a
 * reference. Empty chunks are used again.
 */
final class Chunks {

	private Chunk[] byId = new Chunk[16];

	private int size;

	/** The empty chunks, linked by {@link Chunk#next}. */
	private @Nullable Chunk free;

	/**
	 * The chunk that contains a timer.
	 */
	Chunk of(Timer timer) {
		return this.byId[timer.position >>> Chunk.INDEX_BITS];
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
		if (this.size == this.byId.length) {
			this.byId = Arrays.copyOf(this.byId, 2 * this.size);
		}
		Chunk chunk = new Chunk(this.size);
		this.byId[this.size++] = chunk;
		return chunk;
	}

	/**
	 * Takes back a chunk that is no longer in a slot.
	 */
	void release(Chunk chunk) {
		chunk.clear();
		chunk.next = this.free;
		this.free = chunk;
	}

}
