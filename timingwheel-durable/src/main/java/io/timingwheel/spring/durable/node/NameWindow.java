package io.timingwheel.spring.durable.node;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many tasks of one handler may wait for a thread: nobody can cancel these, and no
 * other node can take them. Doubles after a full window whose tasks have all started
 * soon, and is halved after a late start. Thread-safe.
 */
final class NameWindow {

	/** How long a task that has begun should wait for a thread at most. */
	static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	static final int MIN_SIZE = 8;

	/** After this time without a start the size means nothing any more. */
	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final LongSupplier clock;

	private final Runnable onRoom;

	private int size = MIN_SIZE;

	/** How many tasks have begun, or are about to, and have no thread yet. */
	private int used;

	private int held;

	/** Whether the window was full since its size has changed. */
	private boolean full;

	/** How many tasks have started soon since the size has changed. */
	private int prompt;

	private long changedAt;

	private long startedAt;

	private boolean backlog;

	/** Whether {@link #onRoom} runs when half of the window is free. */
	private boolean awaited;

	NameWindow(LongSupplier clock, Runnable onRoom) {
		this.clock = clock;
		this.onRoom = onRoom;
		this.changedAt = clock.getAsLong();
		this.startedAt = this.changedAt;
	}

	synchronized int room() {
		if (this.used == 0 && this.clock.getAsLong() - this.startedAt > IDLE_NANOS) {
			this.size = MIN_SIZE;
		}
		return Math.max(0, this.size - this.used);
	}

	/** If not, the poller is woken once it is. */
	synchronized boolean hasRoomOrTells() {
		this.awaited = !isHalfFree();
		return !this.awaited;
	}

	private boolean isHalfFree() {
		return this.used <= this.size / 2;
	}

	/** Whether tasks that are due wait for room, here or in the store. */
	synchronized boolean hasBacklog() {
		return this.backlog;
	}

	synchronized void setBacklog(boolean backlog) {
		this.backlog = backlog;
		this.full |= backlog;
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
			setBacklog(true);
			return false;
		}
		this.used++;
		this.full |= this.used >= this.size;
		return true;
	}

	/** The lateness of tasks that began before the size has changed does not count. */
	synchronized void started(long begunAt) {
		this.startedAt = this.clock.getAsLong();
		if (this.startedAt - begunAt <= LATE_NANOS) {
			this.prompt++;
			if (this.full && this.prompt >= this.size) {
				resize(2 * this.size);
			}
		}
		else if (begunAt - this.changedAt >= 0) {
			resize(Math.max(MIN_SIZE, this.size / 2));
		}
		leave();
	}

	private void resize(int size) {
		this.size = size;
		this.changedAt = this.startedAt;
		this.prompt = 0;
		this.full = false;
	}

	synchronized void leave() {
		this.used--;
		if (this.awaited && isHalfFree()) {
			this.awaited = false;
			this.onRoom.run();
		}
	}

}
