package io.timingwheel;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Timers of a shard, first in first out: a slot of the wheel, or timers that wait for
 * their executor. The list consists of {@link Chunk}s. A timer that is alone in its list
 * needs no chunk.
 *
 * <p>
 * If at most a quarter of a chunk's array is in use, the chunk is packed, or merged with
 * a neighbour if both fit into half a chunk. A removal therefore moves at most half a
 * chunk of other timers, and on average less than one timer.
 */
final class TimerList extends Timer.Place {

	/** The {@link #slot} of a list that is no slot of the wheel. */
	static final int NO_SLOT = -1;

	/** The number of the slot, counted through all rings of the wheel. */
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
	 * Makes room for one more timer, so that the next {@link #append} needs no memory.
	 * @return the chunk that takes the timer, null if the timer will be alone
	 */
	@Nullable Chunk reserve() {
		Chunk tail = this.tail;
		if (tail != null && !tail.isFull()) {
			tail.reserve();
			return tail;
		}
		return (this.head != null) ? extend(tail) : null;
	}

	private Chunk extend(@Nullable Chunk tail) {
		Chunk chunk = (tail != null) ? new Chunk(this.shard, Chunk.CAPACITY) : Chunk.small(this.shard);
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

	/**
	 * Removes a timer from the place that it has, or had before it was appended to
	 * another list.
	 * @param place this list if the timer is alone, otherwise its chunk
	 */
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
			pack(chunk);
		}
	}

	private void pack(Chunk chunk) {
		Chunk previous = chunk.previous;
		Chunk next = chunk.next;
		try {
			if (next != null && chunk.isSparseWith(next)) {
				chunk.absorb(next);
				unlink(next);
			}
			else if (previous != null && chunk.isSparseWith(previous)) {
				previous.absorb(chunk);
				unlink(chunk);
			}
			else {
				chunk.absorb(null);
			}
		}
		catch (OutOfMemoryError ex) {
			// The next removal tries again. This one has removed its timer.
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

	/**
	 * Removes the first chunk, and leaves its timers in it. The list must not be empty.
	 * @param spare an empty chunk for a timer that is alone
	 */
	Chunk takeChunk(Chunk spare) {
		if (this.head instanceof Chunk first) {
			this.size -= first.count();
			unlink(first);
			return first;
		}
		if (this.head instanceof Timer only) {
			spare.append(only);
			this.head = null;
			this.size--;
		}
		return spare;
	}

	/**
	 * The first timer, null if the list is empty.
	 */
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

	/**
	 * Passes on the timers of the first chunk, and removes each of them afterwards. If
	 * the consumer fails, its timer and those after it stay.
	 */
	void moveFirst(Consumer<Timer> consumer) {
		if (this.head instanceof Chunk chunk) {
			for (int i = 0; i < chunk.size(); i++) {
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
			this.head = null;
			this.size--;
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

}
