package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;

/**
 * Plans what a claim takes of each name. {@link #window} is thread-safe; only the poller
 * calls the other methods.
 */
final class Names {

	/** A name may hold at most this many times the free room. */
	private static final int OTHERS = 3;

	private final NodeSettings settings;

	private final DurableHandlers handlers;

	private final NamePolicies policies;

	private final Supplier<NameWindow> newWindow;

	/**
	 * The windows by the names of the handlers. An alias has the window of its handler.
	 */
	private final Map<String, NameWindow> windows = new ConcurrentHashMap<>();

	/** The windows that got tasks with the last claim. They share its room. */
	private Set<NameWindow> active = Set.of();

	/** The windows that had no room in the last plan. */
	private Set<NameWindow> leftOut = Set.of();

	/** The windows that got as many tasks as the last claim wanted. */
	private Set<NameWindow> full = Set.of();

	/** Whether the last claim may have left tasks that need room or an end. */
	private boolean more;

	/** Whether the last claim has reached its limit for all names together. */
	private boolean atLimit;

	Names(NodeSettings settings, DurableHandlers handlers, NamePolicies policies, Supplier<NameWindow> newWindow) {
		this.settings = settings;
		this.handlers = handlers;
		this.policies = policies;
		this.newWindow = newWindow;
	}

	NamePolicies policies() {
		return this.policies;
	}

	NameWindow window(DurableHandler handler) {
		return this.windows.computeIfAbsent(handler.name(), (name) -> this.newWindow.get());
	}

	private DurableHandler handler(String name) {
		return Objects.requireNonNull(this.handlers.find(name));
	}

	/**
	 * Plans a claim. The name of a suspect needs no room.
	 */
	ClaimRequest plan(int free, boolean suspect, Duration lookAhead) {
		int room = Math.min(free, this.settings.maxRequest());
		boolean several = this.windows.size() > 1;
		Map<String, Share> shares = new HashMap<>();
		this.leftOut = new HashSet<>();
		if (room > 0) {
			this.handlers.all().forEach((name, handler) -> {
				if (!this.policies.isPaused(name)) {
					NameWindow window = window(handler);
					int share = several ? share(window, free, room) : room;
					int due = Math.max(0, Math.min(share, window.room()));
					if (due == 0) {
						this.leftOut.add(window);
					}
					if (due > 0 || suspect) {
						shares.put(name, share(handler, window, share, due));
					}
				}
			});
		}
		return new ClaimRequest(this.settings.nodeId(), shares, room, suspect, lookAhead, this.settings.lease(),
				this.settings.maxPayloadBytes());
	}

	/**
	 * What a name gets of the room of a claim: so that there is room for other names, and
	 * so that the store does not lock many more tasks than there is room for.
	 */
	private int share(NameWindow window, int free, int room) {
		int held = window.held();
		int share = Math.max((OTHERS * free - held) / (OTHERS + 1), (held == 0) ? 1 : 0);
		int divided = (this.active.size() > 1 && this.active.contains(window)) ? 2 * room / this.active.size() + 1
				: room;
		return Math.min(share, divided);
	}

	private Share share(DurableHandler handler, NameWindow window, int share, int due) {
		StartLimits limits = this.policies.limits(handler);
		boolean later = due > 0 && limits == null && !window.hasBacklog();
		return new Share(due, later ? Math.min(share, this.settings.batchSize()) : 0, limits,
				(limits != null) ? handler.expireAfter() : null);
	}

	/**
	 * Learns from a claim that was no claim of a suspect.
	 */
	void learn(ClaimRequest request, Claimed claimed) {
		Map<String, Integer> due = new HashMap<>();
		Map<String, Integer> soon = new HashMap<>();
		for (LeasedTask task : claimed.tasks()) {
			(task.begun() ? due : soon).merge(task.name(), 1, Integer::sum);
		}
		this.full = new HashSet<>();
		request.names().forEach((name, share) -> {
			NameWindow window = window(handler(name));
			boolean backlog = share.due() > 0 && due.getOrDefault(name, 0) >= share.due();
			window.setBacklog(backlog);
			if (backlog || (share.soon() > 0 && soon.getOrDefault(name, 0) >= share.soon())) {
				this.full.add(window);
			}
		});
		this.more = claimed.more();
		this.atLimit = claimed.tasks().size() >= request.limit();
		this.active = claimed.tasks().stream().map((task) -> window(handler(task.name()))).collect(Collectors.toSet());
	}

	/**
	 * Whether a claim of a fair size may take tasks that the last one has left.
	 */
	boolean hasRoomForMore(int free) {
		int enough = Math.max(1, Math.min(this.settings.batchSize(), this.settings.maxInFlight() / 4));
		return this.more && ((this.atLimit) ? free >= enough
				: this.full.stream().anyMatch((window) -> window.isHalfFree() && share(window, free, free) >= enough));
	}

	/**
	 * Whether the last plan or claim may have left tasks that need room or an end.
	 */
	boolean mayHaveMore() {
		return this.more || !this.leftOut.isEmpty();
	}

	/**
	 * Whether tasks in the store wait until others of their name have started.
	 */
	boolean waitForStarts() {
		return !this.leftOut.stream().allMatch(NameWindow::isHalfFree)
				|| (this.more && !this.full.stream().allMatch(NameWindow::isHalfFree));
	}

	/**
	 * Whether tasks of limited names wait in the store until others of their name end.
	 */
	boolean waitForSingleEnds() {
		return this.more && this.full.isEmpty() && !this.atLimit;
	}

	/**
	 * After how many ends a claim is worth it. Tasks of limited names may wait for a
	 * single one to end. Otherwise one claim of many tasks costs less than many claims of
	 * few.
	 * @param free how many tasks the node can take
	 * @return the number, {@link Integer#MAX_VALUE} if no task waits for an end
	 */
	int endsToWaitFor(int free) {
		if (waitForSingleEnds()) {
			return 1;
		}
		int max = this.settings.maxInFlight();
		return mayHaveMore() ? Math.max(1, Math.min(max / 4, (max - free) / 2)) : Integer.MAX_VALUE;
	}

}
