package io.timingwheel.spring.durable.support;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The tasks that this node holds, waiting or running, up to a limit. Thread-safe.
 */
final class InFlight {

	private static final Log logger = LogFactory.getLog(InFlight.class);

	/** A name may hold at most this many times the free room. */
	private static final int OTHERS = 3;

	private static final long REFUSAL_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final TaskLog lostLeases = new TaskLog(logger);

	private final Set<DurableRun> runs = ConcurrentHashMap.newKeySet();

	private final AtomicInteger free;

	private final int limit;

	private final NodeFigures figures;

	private final NodeTurns clock;

	private final AtomicInteger suspects = new AtomicInteger();

	private volatile long refusedAt;

	private volatile boolean refused;

	private volatile Runnable onRoom = () -> {
	};

	private volatile Runnable onSuspectGone = () -> {
	};

	/** The amount of free room at which {@link #onRoom} is called. */
	private volatile int expected = Integer.MAX_VALUE;

	/**
	 * Creates an empty set.
	 * @param limit how many tasks at most
	 * @param figures counts the tasks that the node loses
	 * @param clock the clock of the node
	 */
	InFlight(int limit, NodeFigures figures, NodeTurns clock) {
		this.limit = limit;
		this.free = new AtomicInteger(limit);
		this.figures = figures;
		this.clock = clock;
	}

	/**
	 * Reserves room.
	 * @param atLeast the room that the caller needs
	 * @param atMost the room that the caller can use
	 * @return how much room was reserved, 0 if there is less than needed
	 */
	int reserve(int atLeast, int atMost) {
		while (true) {
			int free = this.free.get();
			int granted = (free < atLeast) ? 0 : Math.min(free, atMost);
			if (granted == 0 || this.free.compareAndSet(free, free - granted)) {
				return granted;
			}
		}
	}

	/**
	 * How many tasks of a name the node may take, so that there is room for other names:
	 * it holds no more than three times as many as there is free room.
	 * @param lane the tasks of the name
	 * @param room how much of the room the caller has reserved
	 */
	int share(Lane lane, int room) {
		int held = lane.size();
		int share = (OTHERS * (this.free.get() + room) - held) / (OTHERS + 1);
		return Math.max(share, (held == 0) ? 1 : 0);
	}

	/**
	 * How much room nobody has reserved.
	 */
	int free() {
		return this.free.get();
	}

	/**
	 * Gives back reserved room.
	 */
	void free(int amount) {
		if (amount > 0 && this.free.addAndGet(amount) >= this.expected) {
			this.expected = Integer.MAX_VALUE;
			this.onRoom.run();
		}
	}

	/**
	 * Registers a callback for free room. There is one callback at a time.
	 * @param atLeast how much room must be free
	 * @param onRoom called once that much room is free
	 * @return {@code false} if that much room is free already
	 */
	boolean expect(int atLeast, Runnable onRoom) {
		this.onRoom = onRoom;
		this.expected = atLeast;
		return this.free.get() < atLeast;
	}

	/**
	 * Registers a callback for the end of the last suspect.
	 */
	void onSuspectGone(Runnable callback) {
		this.onSuspectGone = callback;
	}

	boolean hasSuspect() {
		return this.suspects.get() > 0;
	}

	/**
	 * Records that the wheel has refused a task, since it is full.
	 */
	void refused() {
		this.refusedAt = this.clock.nanoTime();
		this.refused = true;
	}

	/**
	 * How long the node takes no tasks after the wheel has refused one, in nanoseconds.
	 */
	long refusalNanos() {
		long left = this.refused ? REFUSAL_NANOS - (this.clock.nanoTime() - this.refusedAt) : 0;
		if (left <= 0) {
			this.refused = false;
		}
		return Math.max(0, left);
	}

	/**
	 * Adds a task, for which the caller has reserved room.
	 */
	void add(DurableRun run) {
		this.runs.add(run);
		run.lane().added();
		if (run.task().suspect()) {
			this.suspects.incrementAndGet();
		}
	}

	void remove(DurableRun run) {
		if (this.runs.remove(run)) {
			run.lane().removed();
			free(1);
			if (run.task().suspect() && this.suspects.decrementAndGet() == 0) {
				this.onSuspectGone.run();
			}
		}
	}

	/**
	 * Removes a task that the store did not begin, since it was cancelled, replaced,
	 * moved, or claimed by another node.
	 */
	void removeRefused(DurableRun run) {
		run.withdraw();
		this.figures.addRefused();
		remove(run);
	}

	/**
	 * Gives up a task whose lease has ended. If the body has ended too, the node keeps
	 * the task, and the store decides whether the body ended in time.
	 */
	void loseLease(DurableRun run) {
		if (run.loseLease()) {
			this.figures.addLost();
			this.lostLeases.warn("The lease of the durable task %s has ended: another node may run it".formatted(run));
			remove(run);
		}
	}

	Collection<DurableRun> runs() {
		return this.runs;
	}

	/**
	 * How many tasks have not begun.
	 */
	int waiting() {
		return (int) this.runs.stream().filter(DurableRun::isWaiting).count();
	}

	boolean isEmpty() {
		return this.runs.isEmpty();
	}

	int size() {
		return this.limit - this.free.get();
	}

}
