package io.timingwheel.spring.durable.support;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.TaskRef;

/**
 * The tasks that a node holds, waiting or running: never more than a limit. Thread-safe.
 */
final class InFlight {

	private final Map<TaskRef, DurableRun> runs = new ConcurrentHashMap<>();

	private final AtomicInteger free;

	private final int limit;

	private final Runnable onRoom;

	/** How much room is waited for. */
	private volatile int expected = Integer.MAX_VALUE;

	/**
	 * Creates an empty set.
	 * @param limit how many tasks at most
	 * @param onRoom called when there is the room that was expected
	 */
	InFlight(int limit, Runnable onRoom) {
		this.limit = limit;
		this.free = new AtomicInteger(limit);
		this.onRoom = onRoom;
	}

	/**
	 * Reserves room.
	 * @param atLeast less is of no use
	 * @param atMost how much is wanted
	 * @return how much there is; 0 if there is not enough
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
	 * Gives reserved room back.
	 */
	void free(int amount) {
		if (amount > 0 && this.free.addAndGet(amount) >= this.expected) {
			this.expected = Integer.MAX_VALUE;
			this.onRoom.run();
		}
	}

	/**
	 * Has it said once that there is room.
	 * @param atLeast how much
	 * @return {@code false} if there is as much already
	 */
	boolean expect(int atLeast) {
		this.expected = atLeast;
		return this.free.get() < atLeast;
	}

	/**
	 * Adds a task, for which room was reserved.
	 */
	void add(DurableRun run) {
		this.runs.put(run.ref(), run);
	}

	void remove(DurableRun run) {
		if (this.runs.remove(run.ref(), run)) {
			free(1);
		}
	}

	Collection<DurableRun> runs() {
		return this.runs.values();
	}

	int size() {
		return this.limit - this.free.get();
	}

}
