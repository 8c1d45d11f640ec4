package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

import io.timingwheel.spring.durable.DelayedTaskStore;

/**
 * The names that are paused in the store, as far as this node knows. The poller reads
 * them, also without room for a claim, at most once for each poll interval. With virtual
 * time the poller reads them each time when a test moves the time. Thread-safe.
 */
final class PausedNames {

	private final NodeTurns turns;

	private final DelayedTaskStore store;

	private final long intervalNanos;

	private volatile Set<String> names = Set.of();

	private boolean read;

	private int readMoves;

	private long readAt;

	PausedNames(NodeTurns turns, DelayedTaskStore store, Duration interval) {
		this.turns = turns;
		this.store = store;
		this.intervalNanos = interval.toNanos();
	}

	boolean contains(String name) {
		return this.names.contains(name);
	}

	/**
	 * Pauses or resumes a name for all nodes.
	 */
	synchronized void set(String name, boolean paused) {
		this.store.setPaused(name, paused);
		Set<String> names = new HashSet<>(this.names);
		if (paused) {
			names.add(name);
		}
		else {
			names.remove(name);
		}
		this.names = Set.copyOf(names);
	}

	/**
	 * Reads the names, unless they were read lately.
	 * @return the names that were not known to be paused
	 */
	synchronized Set<String> read() {
		if (!isStale()) {
			return Set.of();
		}
		int moves = this.turns.moves();
		Set<String> found = this.store.pausedNames();
		Set<String> added = new HashSet<>(found);
		added.removeAll(this.names);
		this.names = Set.copyOf(found);
		this.read = true;
		this.readMoves = moves;
		this.readAt = this.turns.nanoTime();
		return added;
	}

	private boolean isStale() {
		return !this.read || (this.turns.isVirtual() ? this.readMoves != this.turns.moves()
				: this.turns.nanoTime() - this.readAt >= this.intervalNanos);
	}

}
