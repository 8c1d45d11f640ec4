package io.timingwheel.spring.durable.node;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many tasks of one handler may wait for a thread: nobody can cancel these, and no
 * other node can take them. Each start in a backlog adds a place. After a late start none
 * is free until fewer tasks wait. Thread-safe.
 */
final class NameWindow {

	/** How long a task that has begun should wait for a thread at most. */
	static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	static final int MIN_SIZE = 8;

	private final LongSupplier clock;

	private final Runnable onRoom;

	private int size = MIN_SIZE;

	/** How many tasks have begun, or are about to, and have no thread yet. */
	private int used;

	private int held;

	private boolean backlog;

	/**
	 * @param onRoom called when half of the window has become free in a backlog
	 */
	NameWindow(LongSupplier clock, Runnable onRoom) {
		this.clock = clock;
		this.onRoom = onRoom;
	}

	synchronized int room() {
		return Math.max(0, this.size - this.used);
	}

	/** Whether a claim for tasks of the backlog would not be tiny. */
	synchronized boolean hasRoomForBacklog() {
		return this.backlog && isHalfFree();
	}

	/** Whether tasks that are due may wait for room, here or in the store. */
	synchronized boolean hasBacklog() {
		return this.backlog;
	}

	synchronized void setBacklog(boolean backlog) {
		this.backlog = backlog;
	}

	synchronized int held() {
		return this.held;
	}

	synchronized void added() {
		this.held++;
	}

	synchronized void removed() {
		this.held--;
	}

	/**
	 * @param always also without room
	 */
	synchronized boolean enter(boolean always) {
		if (!always && this.used >= this.size) {
			this.backlog = true;
			return false;
		}
		this.used++;
		return true;
	}

	synchronized void started(long begunAt) {
		boolean full = !isHalfFree();
		if (this.clock.getAsLong() - begunAt > LATE_NANOS) {
			this.size = Math.max(MIN_SIZE, this.used - 1);
		}
		else if (this.backlog) {
			this.size++;
		}
		leave(full);
	}

	synchronized void leave() {
		leave(!isHalfFree());
	}

	private void leave(boolean full) {
		this.used--;
		if (full && this.backlog && isHalfFree()) {
			this.onRoom.run();
		}
	}

	private boolean isHalfFree() {
		return this.used <= this.size / 2;
	}

}
