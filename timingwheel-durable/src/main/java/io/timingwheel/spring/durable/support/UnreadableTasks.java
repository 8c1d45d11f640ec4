package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The tasks that this node could not read lately. The node leaves each of them to other
 * nodes until its next attempt is due, since another release or a larger limit may read
 * the task. The node remembers only the latest ones. Thread-safe.
 */
final class UnreadableTasks {

	private static final int LIMIT = 100;

	/** When the next attempt of a task is due, by the clock of this node. */
	private final Map<String, Long> dueAt = new LinkedHashMap<>();

	private final NodeTurns clock;

	UnreadableTasks(NodeTurns clock) {
		this.clock = clock;
	}

	/**
	 * Leaves a task to other nodes.
	 * @param id its id
	 * @param period how long
	 */
	synchronized void leave(String id, Duration period) {
		this.dueAt.remove(id);
		this.dueAt.put(id, this.clock.nanoTime() + period.toNanos());
		if (this.dueAt.size() > LIMIT) {
			this.dueAt.remove(this.dueAt.keySet().iterator().next());
		}
	}

	/**
	 * Tells whether this node leaves a task to other nodes. The node does so only before
	 * the task is due, so that it does not wait longer than for its attempt.
	 * @param begun whether the task has begun already
	 */
	boolean isLeft(String id, boolean begun) {
		return !begun && isLeft(id);
	}

	private synchronized boolean isLeft(String id) {
		Long due = this.dueAt.get(id);
		return due != null && this.clock.nanoTime() - due < 0;
	}

}
