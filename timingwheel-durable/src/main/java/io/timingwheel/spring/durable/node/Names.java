package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.StartLimits;

/** Plans what a claim takes of each name. Only {@link #window} is thread-safe. */
final class Names {

	/** A name may hold at most this many times the free room. */
	private static final int OTHERS = 3;

	private final NodeParts parts;

	private final Map<String, Window> windows = new ConcurrentHashMap<>();

	Names(NodeParts parts) {
		this.parts = parts;
	}

	Window window(String name) {
		return this.windows.computeIfAbsent(name, (key) -> new Window());
	}

	/** The name of a suspect needs no room. */
	ClaimRequest plan(int free, boolean suspect, Duration lookAhead) {
		int room = Math.min(free, this.parts.settings.maxRequest());
		Map<String, Share> shares = new HashMap<>();
		this.parts.handlers.names().forEach((name) -> {
			Window window = window(name);
			if (this.parts.policies.isPaused(name)) {
				window.backlog = false;
				return;
			}
			int share = share(window, free, room);
			int due = Math.min(share, window.room());
			if (due == 0 && window.held.get() > 0) {
				window.backlog = true;
			}
			if (due > 0 || (suspect && room > 0)) {
				StartLimits limits = this.parts.policies.limits(name);
				boolean later = due > 0 && limits == null && !window.backlog;
				shares.put(name, new Share(due, later ? Math.min(share, this.parts.settings.batchSize()) : 0, limits,
						(limits != null) ? this.parts.handlers.get(name).method().expireAfter() : null));
			}
		});
		return new ClaimRequest(this.parts.settings.nodeId(), shares, room, suspect, lookAhead,
				this.parts.settings.lease(), this.parts.settings.maxPayloadBytes());
	}

	/**
	 * Leaves room for other names, and keeps the store from locking many more tasks than
	 * there is room for.
	 */
	private int share(Window window, int free, int room) {
		if (this.parts.handlers.names().size() == 1) {
			return room;
		}
		int held = window.held.get();
		int share = Math.max((OTHERS * free - held) / (OTHERS + 1), (held == 0) ? 1 : 0);
		int divided = window.backlog ? 2 * room / backlogs() + 1 : room;
		return Math.min(room, Math.min(share, divided));
	}

	void learn(ClaimRequest request, Claimed claimed) {
		Map<String, Integer> due = new HashMap<>();
		claimed.tasks().forEach((task) -> due.merge(task.name(), task.begun() ? 1 : 0, Integer::sum));
		boolean atLimit = claimed.tasks().size() >= request.limit();
		request.names().forEach((name, share) -> {
			if (share.due() > 0) {
				window(name).backlog = atLimit || due.getOrDefault(name, 0) >= share.due();
			}
		});
	}

	int backlogs() {
		return (int) this.windows.values().stream().filter((window) -> window.backlog).count();
	}

	/** Whether a claim for a backlog would not be tiny. */
	boolean hasRoomForBacklog() {
		int free = this.parts.held.free();
		return this.windows.values()
			.stream()
			.anyMatch((window) -> window.hasRoomForBacklog() && share(window, free, free) >= enough());
	}

	/** How many tasks of a backlog a claim should be for. */
	int enough() {
		return Math.max(1, Math.min(this.parts.settings.batchSize(), this.parts.settings.maxInFlight() / 4));
	}

	/**
	 * How many tasks of one name may wait for a thread: nobody can cancel these, and no
	 * other node can take them. Each start in a backlog adds a place. After a late start
	 * none is free until fewer tasks wait. Thread-safe.
	 */
	final class Window {

		/** How long a task that has begun should wait for a thread at most. */
		static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

		static final int MIN_SIZE = 8;

		private int size = MIN_SIZE;

		/** How many tasks have begun, or are about to, and have no thread yet. */
		private int used;

		/** Whether more than half has been used since half was free. */
		private boolean full;

		/** How many tasks the node holds, also those that run. */
		final AtomicInteger held = new AtomicInteger();

		/** Whether tasks that are due may wait for room, here or in the store. */
		volatile boolean backlog;

		synchronized int room() {
			return Math.max(0, this.size - this.used);
		}

		synchronized boolean hasRoomForBacklog() {
			return this.backlog && this.used <= this.size / 2;
		}

		/** Takes a place, {@code always} also without room. */
		synchronized boolean enter(boolean always) {
			if (!always && this.used >= this.size) {
				this.backlog = true;
				return false;
			}
			this.used++;
			this.full |= this.used > this.size / 2;
			return true;
		}

		synchronized void started(long begunAt) {
			if (Names.this.parts.nanoTime() - begunAt > LATE_NANOS) {
				this.size = Math.max(MIN_SIZE, this.used - 1);
			}
			else if (this.backlog) {
				this.size++;
			}
			leave();
		}

		/** In a backlog, wakes the poller when half of the window becomes free. */
		synchronized void leave() {
			this.used--;
			if (this.full && this.used <= this.size / 2) {
				this.full = false;
				if (this.backlog) {
					Names.this.parts.wake();
				}
			}
		}

	}

}
