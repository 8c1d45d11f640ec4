package io.timingwheel.spring.durable.node;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.task.internal.TaskLog;
import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The tasks that this node holds, from their claim until the store knows of their end.
 * Only the poller adds tasks, so room that it has seen stays free. Thread-safe.
 */
final class Held {

	private static final Log logger = LogFactory.getLog(Held.class);

	/** How long a full wheel or a suspect keeps the node from claiming tasks. */
	private static final long BLOCKED_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final TaskLog losses = new TaskLog(logger);

	private final NodeParts parts;

	final Set<Run> runs = ConcurrentHashMap.newKeySet();

	private volatile long blockedUntil;

	/** With how much free room an end wakes the poller. */
	private volatile int wakeAtFree = Integer.MAX_VALUE;

	/** Whether the node claims tasks. */
	volatile boolean open = true;

	Held(NodeParts parts) {
		this.parts = parts;
		this.blockedUntil = parts.nanoTime();
	}

	int free() {
		return this.parts.settings.maxInFlight() - this.runs.size();
	}

	void add(Run run) {
		this.runs.add(run);
		run.window.held.incrementAndGet();
		if (run.task.suspect()) {
			block();
		}
	}

	void remove(Run run) {
		if (!this.runs.remove(run)) {
			return;
		}
		run.window.held.decrementAndGet();
		if (run.task.suspect()) {
			this.blockedUntil = this.parts.nanoTime();
			this.parts.wake();
		}
		wakeIfFree();
	}

	/** Forgets a task without a settlement. */
	void drop(Run run) {
		run.withdraw();
		remove(run);
	}

	/** If the body has ended, the store decides whether it did so in time. */
	void lose(Run run) {
		if (run.loseLease()) {
			this.parts.lostLeases.increment();
			this.losses.warn("The lease of the durable task %s has ended: another node may run it".formatted(run));
			remove(run);
		}
	}

	/** Forgets a task after an error of this node. */
	void forget(Run run, Throwable error) {
		drop(run);
		UserErrors.log(logger::error, ("The durable task %s could not be handled to its end: if the store still has it,"
				+ " it comes back after its lease")
			.formatted(run), error);
	}

	boolean hasSuspect() {
		return this.runs.stream().anyMatch((run) -> run.task.suspect());
	}

	/**
	 * Takes no tasks for a while: the wheel is full, or a suspect runs beside those alone
	 * that it began with.
	 */
	void block() {
		this.blockedUntil = this.parts.nanoTime() + BLOCKED_NANOS;
	}

	long blockedNanos() {
		return Math.max(0, this.blockedUntil - this.parts.nanoTime());
	}

	/** Wakes the poller once so much room is free. */
	void wakeAtFree(int free) {
		this.wakeAtFree = free;
		wakeIfFree();
	}

	private void wakeIfFree() {
		if (free() >= this.wakeAtFree) {
			this.parts.wake();
		}
	}

}
