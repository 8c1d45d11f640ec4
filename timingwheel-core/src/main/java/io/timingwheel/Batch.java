package io.timingwheel;

import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The chunk of a {@link Wheel} that the driver has in hand: its timers are due, and the
 * driver hands them over one by one. If a timer was moved in the meantime, or has to wait
 * for its executor, the batch keeps the timer. Afterwards, the driver puts the timer back
 * into the wheel or into the queue of its executor.
 *
 * <p>
 * The batch works on the array of the chunk. A copy of the array would cost a barrier of
 * the garbage collector for each timer. The chunk itself stays in hand until the wheel's
 * next step, so that no other chunk gets its number before.
 *
 * <p>
 * The shard's lock guards the reference to the chunk. Only the driver uses all other
 * fields. The batch is padded, since the driver writes to it for each timer while other
 * threads use the wheel.
 */
abstract class Batch extends Padding {

	private static final @Nullable Timer[] NONE = new Timer[0];

	private static final @Nullable RefusalQueue[] NO_QUEUES = new RefusalQueue[0];

	private @Nullable Chunk chunk;

	/**
	 * The array of the chunk: the kept timers begin at 0, and the timers that have not
	 * been polled begin at {@link #position}.
	 */
	private @Nullable Timer[] timers = NONE;

	/** For the kept timers, the queues in which they wait; empty if none waits. */
	private @Nullable RefusalQueue[] queues = NO_QUEUES;

	private int kept;

	/** How many of the kept timers have been put back. */
	private int putBack;

	/** The index after the current timer. */
	private int position;

	private int size;

	private long tick;

	/**
	 * Takes in hand a chunk that has left its slot.
	 * @param tick the tick at which the timers of the chunk are due, unless they are
	 * moved
	 */
	void take(Chunk chunk, long tick) {
		this.chunk = chunk;
		this.timers = chunk.takeInHand();
		this.size = chunk.size();
		this.tick = tick;
	}

	/**
	 * Whether a chunk is in hand. The chunk remains in hand after its last timer was
	 * handed over.
	 */
	boolean hasChunk() {
		return this.chunk != null;
	}

	/**
	 * Gives the chunk back, if there is one. All its timers have been handed over or put
	 * back.
	 */
	void releaseChunk(Chunks chunks) {
		Chunk chunk = this.chunk;
		if (chunk != null) {
			this.chunk = null;
			chunks.release(chunk);
		}
	}

	long tick() {
		return this.tick;
	}

	/**
	 * Whether no timer is left to hand over or to put back.
	 */
	boolean isEmpty() {
		return this.position == this.size && this.kept == 0;
	}

	/**
	 * Moves on to the next timer.
	 * @return the timer, null if no timer is left
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
			giveArrayBack();
		}
		return null;
	}

	private void giveArrayBack() {
		if (this.chunk != null) {
			this.chunk.takeBack(this.timers);
		}
		this.timers = NONE;
	}

	/**
	 * The timer that was polled last, null if the last poll found none.
	 */
	@Nullable Timer current() {
		return (this.position > 0) ? this.timers[this.position - 1] : null;
	}

	/**
	 * Keeps the current timer.
	 * @param queue the queue in which the timer waits, null if the timer was moved
	 */
	void keepCurrent(@Nullable RefusalQueue queue) {
		// This allocation may fail. The timer must not be kept before it.
		if (queue != null && this.queues == NO_QUEUES) {
			this.queues = new RefusalQueue[this.timers.length];
		}
		int index = this.kept++;
		this.timers[index] = this.timers[this.position - 1];
		if (this.queues != NO_QUEUES) {
			this.queues[index] = queue;
		}
	}

	/**
	 * The first kept timer that has not been put back, null if there is none. The caller
	 * has polled all timers before.
	 */
	@Nullable Timer nextKept() {
		return (this.putBack < this.kept) ? this.timers[this.putBack] : null;
	}

	/**
	 * The queue in which the next kept timer waits, null if the timer was moved.
	 */
	@Nullable RefusalQueue queueOfKept() {
		return (this.queues != NO_QUEUES) ? this.queues[this.putBack] : null;
	}

	/**
	 * Whether a kept timer waits in a queue.
	 */
	boolean hasQueues() {
		return this.queues != NO_QUEUES;
	}

	/**
	 * Moves on to the next kept timer.
	 */
	void dropKept() {
		if (++this.putBack == this.kept) {
			this.queues = NO_QUEUES;
			giveArrayBack();
			this.kept = 0;
			this.putBack = 0;
		}
	}

	/**
	 * Passes on all timers that are left. If the consumer fails, its timer and those
	 * after it are still left.
	 */
	void drainTo(Consumer<Timer> consumer) {
		for (Timer timer = poll(); timer != null; timer = poll()) {
			try {
				consumer.accept(timer);
			}
			catch (Throwable ex) {
				this.position--;
				throw ex;
			}
		}
		for (Timer timer = nextKept(); timer != null; timer = nextKept()) {
			consumer.accept(timer);
			dropKept();
		}
	}

	/**
	 * Passes on all timers of the array, some of which have ended. Another thread may
	 * call this while the driver uses the batch. The order is from the end to the
	 * beginning, because the driver moves kept timers towards the beginning.
	 */
	void forEachInHand(Consumer<Timer> consumer) {
		@Nullable Timer[] timers = this.timers;
		for (int i = timers.length - 1; i >= 0; i--) {
			Timer timer = timers[i];
			if (timer != null) {
				consumer.accept(timer);
			}
		}
	}

	/**
	 * Adds the space after the fields, see {@link Padding}.
	 */
	static final class Padded extends Batch {

		@SuppressWarnings("unused")
		private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

	}

}
