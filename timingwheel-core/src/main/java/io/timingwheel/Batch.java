package io.timingwheel;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The timers that the driver has in hand: the array of a chunk as it stood in its slot,
 * since storing each timer elsewhere would cost a barrier of the garbage collector. Only
 * the driver uses it.
 */
final class Batch {

	private static final @Nullable Timer[] NONE = new Timer[0];

	/** From 0 those that are kept, from the position on those that are to come. */
	private @Nullable Timer[] timers = NONE;

	private int kept;

	/** How many of those that are kept have been dropped. */
	private int dropped;

	/** The index behind the timer in hand. */
	private int position;

	private int size;

	private long tick;

	/**
	 * Fills an empty batch.
	 * @param timers the array, the batch's from now on; null where a timer was cancelled
	 * @param size how much of it is in use
	 * @param tick the tick at which all of them are due that were not moved
	 */
	void fill(@Nullable Timer[] timers, int size, long tick) {
		this.timers = timers;
		this.size = size;
		this.tick = tick;
	}

	long tick() {
		return this.tick;
	}

	boolean isEmpty() {
		return this.position == this.size && this.kept == 0;
	}

	/**
	 * Takes the next timer in hand.
	 * @return the timer, null if there is none
	 */
	@Nullable Timer poll() {
		while (this.position < this.size) {
			Timer timer = this.timers[this.position++];
			if (timer != null) {
				return timer;
			}
		}
		this.position = 0;
		this.size = 0;
		if (this.kept == 0) {
			this.timers = NONE;
		}
		return null;
	}

	/**
	 * The timer that was polled last, null once there was none.
	 */
	@Nullable Timer inHand() {
		return (this.position > 0) ? this.timers[this.position - 1] : null;
	}

	/**
	 * Keeps the timer in hand, which was moved or refused.
	 */
	void keep() {
		this.timers[this.kept++] = this.timers[this.position - 1];
	}

	/**
	 * The first of those that are kept, null if there is none. Called after all have been
	 * polled.
	 */
	@Nullable Timer firstKept() {
		return (this.dropped < this.kept) ? this.timers[this.dropped] : null;
	}

	void dropFirstKept() {
		if (++this.dropped == this.kept) {
			this.timers = NONE;
			this.kept = 0;
			this.dropped = 0;
		}
	}

	/**
	 * Gives all that is left back to its shard.
	 */
	void drainTo(Shard shard, List<Runnable> tasks) {
		for (Timer timer = poll(); timer != null; timer = poll()) {
			shard.giveBack(timer, tasks);
		}
		for (Timer timer = firstKept(); timer != null; timer = firstKept()) {
			shard.giveBack(timer, tasks);
			dropFirstKept();
		}
	}

}
