package io.timingwheel.spring.durable.node;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The tasks that this node holds, from their claim until the store knows of their end.
 * Only the poller adds tasks, so room that it has seen stays free. Thread-safe.
 */
final class Held {

	/** How long a full wheel or a suspect keeps the node from claiming tasks. */
	private static final long BLOCKED_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final NodeParts parts;

	private final Set<Run> runs = ConcurrentHashMap.newKeySet();

	private final AtomicInteger suspects = new AtomicInteger();

	private volatile long suspectUntil;

	private volatile long wheelFullUntil;

	/** With how much free room an end wakes the poller. */
	private volatile int wakeAtFree = Integer.MAX_VALUE;

	private volatile boolean open = true;

	Held(NodeParts parts) {
		this.parts = parts;
		this.suspectUntil = parts.nanoTime();
		this.wheelFullUntil = this.suspectUntil;
	}

	int free() {
		return this.parts.settings.maxInFlight() - this.runs.size();
	}

	int size() {
		return this.runs.size();
	}

	Collection<Run> runs() {
		return this.runs;
	}

	boolean isOpen() {
		return this.open;
	}

	void setOpen(boolean open) {
		this.open = open;
	}

	void add(Run run) {
		this.runs.add(run);
		run.window.added();
		if (run.task.suspect()) {
			this.suspectUntil = this.parts.nanoTime() + BLOCKED_NANOS;
			this.suspects.incrementAndGet();
		}
	}

	void remove(Run run) {
		if (!this.runs.remove(run)) {
			return;
		}
		run.window.removed();
		boolean lastSuspect = run.task.suspect() && this.suspects.decrementAndGet() == 0;
		if (free() >= this.wakeAtFree || lastSuspect) {
			this.parts.wake();
		}
	}

	/** Forgets a task without a settlement. */
	void drop(Run run) {
		run.withdraw();
		remove(run);
	}

	boolean hasSuspect() {
		return this.suspects.get() > 0;
	}

	void wheelIsFull() {
		this.wheelFullUntil = this.parts.nanoTime() + BLOCKED_NANOS;
	}

	/**
	 * How long the node takes no tasks: the wheel is full, or a suspect runs beside those
	 * alone that it began with.
	 */
	long blockedNanos() {
		long now = this.parts.nanoTime();
		long suspect = hasSuspect() ? this.suspectUntil - now : 0;
		return Math.max(0, Math.max(suspect, this.wheelFullUntil - now));
	}

	/** Wakes the poller once so much room is free. */
	void wakeAtFree(int free) {
		this.wakeAtFree = free;
		if (free() >= free) {
			this.parts.wake();
		}
	}

}
