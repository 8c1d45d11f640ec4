package io.timingwheel;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The expired timers that the driver has in hand: the array of a chunk as it stood in its
 * slot, since storing each timer elsewhere would cost a barrier of the garbage collector.
 * Only the driver uses it.
 */
final class Batch {

	private static final @Nullable Timer[] NONE = new Timer[0];

	private @Nullable Timer[] timers = NONE;

	/** The index behind the timer in hand. */
	private int position;

	private int size;

	private long tick;

	/**
	 * Fills an empty batch.
	 * @param timers the array, the batch's from now on
	 * @param size how many timers are at its beginning
	 * @param tick the tick at which all of them expire
	 */
	void fill(@Nullable Timer[] timers, int size, long tick) {
		this.timers = timers;
		this.size = size;
		this.tick = tick;
	}

	int capacity() {
		return Chunk.CAPACITY;
	}

	long tick() {
		return this.tick;
	}

	boolean isEmpty() {
		return this.position == this.size;
	}

	/**
	 * Takes the next timer in hand and lets go of the last one.
	 * @return the timer, null if there is none
	 */
	@Nullable Timer poll() {
		takeInHand();
		if (isEmpty()) {
			this.timers = NONE;
			this.position = 0;
			this.size = 0;
			return null;
		}
		return this.timers[this.position++];
	}

	/**
	 * The timer that was polled last, unless it was taken out of hand.
	 */
	@Nullable Timer inHand() {
		return (this.position > 0) ? this.timers[this.position - 1] : null;
	}

	/**
	 * Takes the timer in hand out.
	 */
	@Nullable Timer takeInHand() {
		Timer timer = inHand();
		if (timer != null) {
			this.timers[this.position - 1] = null;
		}
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
