package io.timingwheel.spring.durable.node;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The tasks of one handler on this node. Limits how many of them have begun and wait for
 * a thread, since nobody can cancel these any more, and no other node can take them.
 *
 * <p>
 * The limit is the size of the window. It doubles after a full window whose tasks have
 * all started soon, and is halved after a task that has started late. Thread-safe.
 */
final class NameWindow {

	/** How long a task that has begun should wait for a thread at most. */
	static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	static final int MIN_SIZE = 8;

	/** After this time without a start the size means nothing any more. */
	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final LongSupplier clock;

	/** Gets the tasks of the queue when there is room for them. */
	private final Consumer<Run> beginner;

	/** Runs when half of the window is free. */
	private final Runnable onRoom;

	/** The tasks that are due and may not begin yet, the first one due first. */
	private final Queue<Run> queue = new ArrayDeque<>();

	private int size = MIN_SIZE;

	/** How many tasks are about to begin. */
	private int beginning;

	/** How many tasks have begun and wait for a thread. */
	private int waiting;

	/** How many tasks the node holds, in whatever state. */
	private int held;

	/** Whether the window was full since its size has changed. */
	private boolean full;

	/** How many tasks have started soon since the size has changed. */
	private int prompt;

	private long changedAt;

	private long startedAt;

	private boolean backlog;

	NameWindow(LongSupplier clock, Consumer<Run> beginner, Runnable onRoom) {
		this.clock = clock;
		this.beginner = beginner;
		this.onRoom = onRoom;
		this.changedAt = clock.getAsLong();
		this.startedAt = this.changedAt;
	}

	/**
	 * How many more tasks may begin with a claim.
	 */
	synchronized int room() {
		if (used() == 0 && this.clock.getAsLong() - this.startedAt > IDLE_NANOS) {
			this.size = MIN_SIZE;
		}
		return this.queue.isEmpty() ? Math.max(0, this.size - used()) : 0;
	}

	synchronized boolean isHalfFree() {
		return used() <= this.size / 2 && this.queue.isEmpty();
	}

	private int used() {
		return this.beginning + this.waiting;
	}

	/**
	 * Whether tasks that are due wait for room, here or in the store.
	 */
	synchronized boolean hasBacklog() {
		return this.backlog || !this.queue.isEmpty();
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
	 * Allows a task to begin, or puts it in the queue until there is room. A task that
	 * has expired needs no thread, so it never waits.
	 * @return {@code false} if the task is in the queue
	 */
	synchronized boolean tryBegin(Run run) {
		if (used() >= this.size && !run.expired) {
			this.full = true;
			this.queue.add(run);
			return false;
		}
		this.beginning++;
		return true;
	}

	/**
	 * Ends what {@link #tryBegin} has allowed. If the task has begun, {@link #begun()}
	 * was called before.
	 */
	synchronized void triedToBegin() {
		this.beginning--;
		changed();
	}

	synchronized boolean removeQueued(Run run) {
		return this.queue.remove(run);
	}

	/**
	 * Records that a task has begun, and waits for a thread. Gives the time.
	 */
	synchronized long begun() {
		this.waiting++;
		this.full |= used() >= this.size;
		return this.clock.getAsLong();
	}

	/**
	 * Records that the body of a task starts. Tasks that began before the size has
	 * changed were not limited by it, and their lateness does not count.
	 */
	synchronized void started(long begunAt) {
		this.startedAt = this.clock.getAsLong();
		this.waiting--;
		if (this.startedAt - begunAt <= LATE_NANOS) {
			this.prompt++;
			if (this.full && this.prompt >= this.size) {
				resize(2 * this.size);
			}
		}
		else if (begunAt - this.changedAt >= 0) {
			resize(Math.max(MIN_SIZE, this.size / 2));
		}
		changed();
	}

	private void resize(int size) {
		this.size = size;
		this.changedAt = this.startedAt;
		this.prompt = 0;
		this.full = false;
	}

	/**
	 * Records that a task that has begun does not start on this node.
	 */
	synchronized void dropped() {
		this.waiting--;
		changed();
	}

	private void changed() {
		if (used() > this.size / 2) {
			return;
		}
		for (int room = this.size - used(); room > 0 && !this.queue.isEmpty(); room--) {
			this.beginner.accept(this.queue.remove());
		}
		if (this.queue.isEmpty()) {
			this.onRoom.run();
		}
	}

}
