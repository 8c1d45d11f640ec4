package io.timingwheel.spring.durable.support;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The tasks of one name on this node. Limits how many of them have begun and wait for a
 * thread, since nobody can cancel these any more, and no other node can take them.
 *
 * <p>
 * The limit, called the window, follows what the bodies do. It doubles when all tasks of
 * a full window have started soon, as there may be free threads. When tasks have waited
 * longer than {@link #MAX_WAIT_NANOS}, the window becomes the number of tasks that have
 * started within this time lately. Thread-safe.
 */
final class Lane {

	/** How long a task that has begun should wait for a thread. */
	static final long MAX_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	static final int MIN_WINDOW = 8;

	private static final int MAX_WINDOW = 1 << 20;

	/** If a task has waited no longer than this, more tasks may wait. */
	private static final long SHORT_WAIT_NANOS = MAX_WAIT_NANOS / 2;

	/** After this time without a start the rate is not known any more. */
	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private final LongSupplier clock;

	private final Consumer<DurableRun> beginner;

	private final Runnable onRoom;

	/** The tasks that are due and may not begin yet, the first one due first. */
	private final Deque<DurableRun> queue = new ArrayDeque<>();

	private int window = MIN_WINDOW;

	/** How many tasks the node is about to begin. */
	private int beginning;

	/** How many tasks have begun and wait for a thread. */
	private int waiting;

	/** Whether the window was too small, and no task has started late since. */
	private boolean full;

	/** How many tasks in a row have hardly waited. */
	private int prompt;

	/** Whether the store has more tasks that are due. */
	private boolean backlog;

	private boolean roomExpected;

	/**
	 * Whether the last claim has left tasks in the store that are due and may wait until
	 * others of the name end, and nobody has been called back for them yet.
	 */
	private boolean heldInStore;

	/** Whether tasks have left this node since the last claim of a limited name began. */
	private boolean hasFreedPlaces;

	/** The most tasks that have waited for a thread since that claim began. */
	private int mostWaiting;

	private int size;

	/** When a task has started last, or when the first of those that wait has begun. */
	private long startedAt;

	/** Since when {@link #starts} and {@link #late} are counted. */
	private long since;

	private int starts;

	/** Whether a task has started late. */
	private boolean late;

	/**
	 * Creates a lane without tasks.
	 * @param clock a monotonic clock, in nanoseconds
	 * @param beginner gets the tasks of the queue when there is room for them
	 * @param onRoom called when there is room that somebody has waited for
	 */
	Lane(LongSupplier clock, Consumer<DurableRun> beginner, Runnable onRoom) {
		this.clock = clock;
		this.beginner = beginner;
		this.onRoom = onRoom;
		this.startedAt = clock.getAsLong();
		this.since = this.startedAt;
	}

	/**
	 * How many more tasks may begin with a claim. Calls back later if there is no room.
	 */
	synchronized int room() {
		long now = this.clock.getAsLong();
		if (this.waiting == 0 && now - this.startedAt > IDLE_NANOS) {
			this.window = MIN_WINDOW;
		}
		int used = used();
		boolean stuck = this.waiting >= MIN_WINDOW && now - this.startedAt > MAX_WAIT_NANOS;
		int room = (stuck || !this.queue.isEmpty()) ? 0 : Math.max(0, this.window - used);
		this.roomExpected |= room == 0;
		return room;
	}

	/**
	 * Waits for half a window of room after a claim that has found more tasks than may
	 * begin.
	 * @return {@code false} if there is that much room already
	 */
	synchronized boolean expectRoom() {
		boolean used = used() > this.window / 2 || !this.queue.isEmpty();
		this.roomExpected |= used;
		return used;
	}

	/**
	 * Allows a task to begin, or puts the task in the queue until there is room. A task
	 * that has expired needs no thread, so it never waits.
	 * @return {@code false} if the task is in the queue
	 */
	synchronized boolean tryBegin(DurableRun run) {
		if (used() >= this.window && !run.hasExpired()) {
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

	/**
	 * Takes a task out of the queue.
	 * @return {@code false} if the task is not in the queue (any more)
	 */
	synchronized boolean removeQueued(DurableRun run) {
		return this.queue.remove(run);
	}

	/**
	 * Records that the store has a task back that this node could not start. Calls back
	 * when there is room, since the store does not announce the task.
	 */
	synchronized void gaveBack() {
		this.backlog = true;
		this.roomExpected = true;
		changed();
	}

	/**
	 * Records that a task has begun, and waits for a thread.
	 * @return the time, for {@link #started}
	 */
	synchronized long begun() {
		long now = this.clock.getAsLong();
		if (this.waiting == 0) {
			this.startedAt = now;
			restart(now);
		}
		this.waiting++;
		this.mostWaiting = Math.max(this.mostWaiting, this.waiting);
		this.full |= used() >= this.window;
		return now;
	}

	/**
	 * Records that the body of a task starts.
	 * @param begunAt when the task has begun
	 */
	synchronized void started(long begunAt) {
		long now = this.clock.getAsLong();
		this.startedAt = now;
		this.waiting--;
		this.starts++;
		long waited = now - begunAt;
		this.prompt = (waited > SHORT_WAIT_NANOS) ? 0 : this.prompt + 1;
		if (waited > MAX_WAIT_NANOS) {
			this.full = false;
			this.late = true;
		}
		if (now - this.since >= MAX_WAIT_NANOS) {
			if (this.late) {
				this.window = (int) Math.max(MIN_WINDOW, this.starts * MAX_WAIT_NANOS / (now - this.since));
			}
			restart(now);
		}
		changed();
	}

	private void restart(long now) {
		this.since = now;
		this.starts = 0;
		this.late = false;
	}

	/**
	 * Records that a task that has begun does not start on this node.
	 */
	synchronized void dropped() {
		this.waiting--;
		changed();
	}

	private int used() {
		return this.beginning + this.waiting;
	}

	private void changed() {
		claimHeldInStore();
		if (this.full && (used() == 0 || this.prompt >= this.window)) {
			this.full = false;
			this.prompt = 0;
			this.window = Math.min(2 * this.window, MAX_WINDOW);
		}
		if (used() > this.window / 2) {
			return;
		}
		for (int room = this.window - used(); room > 0 && !this.queue.isEmpty(); room--) {
			this.beginner.accept(this.queue.remove());
		}
		if (this.roomExpected && this.queue.isEmpty()) {
			this.roomExpected = false;
			this.onRoom.run();
		}
	}

	/**
	 * Tells whether tasks that are due wait for room.
	 */
	synchronized boolean hasBacklog() {
		return this.backlog || !this.queue.isEmpty();
	}

	/**
	 * Remembers whether the last claim left tasks in the store that are due.
	 */
	synchronized void setBacklog(boolean backlog) {
		this.backlog = backlog;
		this.full |= backlog;
	}

	/**
	 * How many tasks the node holds.
	 */
	synchronized int size() {
		return this.size;
	}

	synchronized void added() {
		this.size++;
	}

	synchronized void removed() {
		this.size--;
		this.hasFreedPlaces = true;
		claimHeldInStore();
	}

	/**
	 * Records that a claim of a limited name begins. Tasks that leave this node from now
	 * on give back places that the claim may not see. The node learns only from the end
	 * of the claim whether tasks wait for these places.
	 */
	synchronized void claiming() {
		this.heldInStore = false;
		this.hasFreedPlaces = false;
		this.mostWaiting = this.waiting;
	}

	/**
	 * Records that the claim has ended, and that tasks that are due may wait in the store
	 * until others of the name end. Calls back when some tasks have left this node, and
	 * at most half of those that waited for a thread still wait. Until then all threads
	 * have work, and one claim of many tasks costs less than many claims of few. There is
	 * one call for each claim: the next claim sees the tasks that have left since.
	 */
	synchronized void holdInStore() {
		this.heldInStore = true;
		claimHeldInStore();
	}

	private void claimHeldInStore() {
		if (this.heldInStore && this.hasFreedPlaces && this.waiting <= this.mostWaiting / 2) {
			this.heldInStore = false;
			this.onRoom.run();
		}
	}

}
