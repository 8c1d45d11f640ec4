package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;

/** Plans what a claim takes of each name. Only {@link #window} is thread-safe. */
final class Names {

	/** A name may hold at most this many times the free room. */
	private static final int OTHERS = 3;

	private final NodeParts parts;

	/** An alias has the window of its handler. */
	private final Map<String, NameWindow> windows = new ConcurrentHashMap<>();

	/** The windows that got tasks with the last claim. They share its room. */
	private Set<NameWindow> active = Set.of();

	Names(NodeParts parts) {
		this.parts = parts;
	}

	NameWindow window(DurableHandler handler) {
		return this.windows.computeIfAbsent(handler.name(),
				(name) -> new NameWindow(this.parts::nanoTime, this.parts::wake));
	}

	private NameWindow window(String name) {
		return window(Objects.requireNonNull(this.parts.handlers.find(name)));
	}

	/** The name of a suspect needs no room. */
	ClaimRequest plan(int free, boolean suspect, Duration lookAhead) {
		int room = Math.min(free, this.parts.settings.maxRequest());
		Map<String, Share> shares = new HashMap<>();
		this.parts.handlers.all().forEach((name, handler) -> {
			NameWindow window = window(handler);
			if (this.parts.policies.isPaused(name)) {
				window.setBacklog(false);
				return;
			}
			int share = share(window, free, room);
			int due = Math.max(0, Math.min(share, window.room()));
			if (due == 0) {
				window.setBacklog(true);
			}
			if (due > 0 || (suspect && room > 0)) {
				shares.put(name, share(handler, window, share, due));
			}
		});
		return new ClaimRequest(this.parts.settings.nodeId(), shares, room, suspect, lookAhead,
				this.parts.settings.lease(), this.parts.settings.maxPayloadBytes());
	}

	/**
	 * Leaves room for other names, and keeps the store from locking many more tasks than
	 * there is room for.
	 */
	private int share(NameWindow window, int free, int room) {
		if (this.windows.size() == 1) {
			return room;
		}
		int held = window.held();
		int share = Math.max((OTHERS * free - held) / (OTHERS + 1), (held == 0) ? 1 : 0);
		int divided = this.active.contains(window) ? 2 * room / this.active.size() + 1 : room;
		return Math.min(room, Math.min(share, divided));
	}

	private Share share(DurableHandler handler, NameWindow window, int share, int due) {
		StartLimits limits = this.parts.policies.limits(handler);
		boolean later = due > 0 && limits == null && !window.hasBacklog();
		return new Share(due, later ? Math.min(share, this.parts.settings.batchSize()) : 0, limits,
				(limits != null) ? handler.method().expireAfter() : null);
	}

	/** A name and its aliases have one window, whose tasks wait if those of one do. */
	void learn(ClaimRequest request, Claimed claimed) {
		Map<String, Integer> due = new HashMap<>();
		this.active = new HashSet<>();
		for (LeasedTask task : claimed.tasks()) {
			due.merge(task.name(), task.begun() ? 1 : 0, Integer::sum);
			this.active.add(window(task.name()));
		}
		boolean atLimit = claimed.tasks().size() >= request.limit();
		Map<NameWindow, Boolean> backlogs = new HashMap<>();
		request.names().forEach((name, share) -> {
			if (share.due() > 0) {
				backlogs.merge(window(name), atLimit || due.getOrDefault(name, 0) >= share.due(), Boolean::logicalOr);
			}
		});
		backlogs.forEach(NameWindow::setBacklog);
	}

	boolean hasBacklog() {
		return this.parts.handlers.all().values().stream().anyMatch((handler) -> window(handler).hasBacklog());
	}

	/** Whether a claim for a backlog would not be tiny. */
	boolean hasRoomForBacklog(int free) {
		return this.parts.handlers.all()
			.values()
			.stream()
			.map(this::window)
			.anyMatch((window) -> window.hasRoomForBacklog() && share(window, free, free) >= enough());
	}

	/** How many tasks of a backlog a claim should be for. */
	int enough() {
		return Math.max(1, Math.min(this.parts.settings.batchSize(), this.parts.settings.maxInFlight() / 4));
	}

}
