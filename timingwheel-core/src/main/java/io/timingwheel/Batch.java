package io.timingwheel;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The expired timers that the driver has in hand. Only the driver uses it.
 */
final class Batch {

	private static final int CAPACITY = 256;

	private final @Nullable Timer[] timers = new Timer[CAPACITY];

	private int position;

	private int size;

	private long tick;

	int capacity() {
		return CAPACITY;
	}

	/**
	 * Adds a timer that expires at the given tick, the same for all of a batch.
	 */
	void add(Timer timer, long tick) {
		this.tick = tick;
		this.timers[this.size++] = timer;
	}

	long tick() {
		return this.tick;
	}

	boolean isEmpty() {
		return this.position == this.size;
	}

	/**
	 * Takes the next timer out, null if there is none.
	 */
	@Nullable Timer poll() {
		if (isEmpty()) {
			this.position = 0;
			this.size = 0;
			return null;
		}
		Timer timer = this.timers[this.position];
		this.timers[this.position++] = null;
		return timer;
	}

	/**
	 * Gives all that is left back to its shard.
	 */
	void drainTo(Shard shard, List<Runnable> tasks) {
		for (Timer timer = poll(); timer != null; timer = poll()) {
			shard.giveBack(timer, tasks);
		}
	}

}
