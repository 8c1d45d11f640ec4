package io.timingwheel.spring.durable.support;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.TaskRef;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The tasks that this node holds, waiting or running, up to a limit. Thread-safe.
 */
final class InFlight {

	private static final Log logger = LogFactory.getLog(InFlight.class);

	private final Map<TaskRef, DurableRun> runs = new ConcurrentHashMap<>();

	private final AtomicInteger free;

	private final int limit;

	private final NodeFigures figures;

	private volatile Runnable onRoom = () -> {
	};

	/** The amount of free room at which {@link #onRoom} is called. */
	private volatile int expected = Integer.MAX_VALUE;

	/**
	 * Creates an empty set.
	 * @param limit how many tasks at most
	 * @param figures counts the tasks that the node loses
	 */
	InFlight(int limit, NodeFigures figures) {
		this.limit = limit;
		this.free = new AtomicInteger(limit);
		this.figures = figures;
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
	 * Adds a task, for which the caller has reserved room.
	 */
	void add(DurableRun run) {
		this.runs.put(run.ref(), run);
	}

	void remove(DurableRun run) {
		if (this.runs.remove(run.ref(), run)) {
			free(1);
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
			logger.warn("The lease of the durable task %s has ended: another node may run it".formatted(run));
			remove(run);
		}
	}

	Collection<DurableRun> runs() {
		return this.runs.values();
	}

	int size() {
		return this.limit - this.free.get();
	}

}
