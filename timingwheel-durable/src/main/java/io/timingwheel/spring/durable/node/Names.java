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

	/** The names that have given as many tasks as the last claim wanted. */
	private Set<String> full = Set.of();

	/** Whether names were left out of the plan, since their windows are full. */
	private boolean leftOut;

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
	 * Plans a claim.
	 * @param free how many tasks the node can take
	 * @param suspect whether to ask for a suspect, whose name needs no room
	 */
	ClaimRequest plan(int free, boolean suspect, Duration lookAhead) {
		int room = Math.min(free, this.settings.maxRequest());
		boolean several = this.windows.size() > 1;
		Map<String, Share> shares = new HashMap<>();
		this.leftOut = false;
		if (room > 0) {
			this.handlers.all().forEach((name, handler) -> {
				if (!this.policies.isPaused(handler, name)) {
					NameWindow window = window(handler);
					int share = several ? share(window, free, room) : room;
					int due = Math.max(0, Math.min(share, window.room()));
					this.leftOut |= due == 0;
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
		Set<String> full = new HashSet<>();
		request.names().forEach((name, share) -> {
			boolean backlog = share.due() > 0 && due.getOrDefault(name, 0) >= share.due();
			window(handler(name)).setBacklog(backlog);
			if (backlog || (share.soon() > 0 && soon.getOrDefault(name, 0) >= share.soon())) {
				full.add(name);
			}
		});
		this.full = full;
		this.more = claimed.more();
		this.atLimit = claimed.tasks().size() >= request.limit();
		this.active = claimed.tasks().stream().map((task) -> window(handler(task.name()))).collect(Collectors.toSet());
	}

	/**
	 * Whether the next claim may take tasks that the last one has left.
	 */
	boolean hasRoomForMore(int free) {
		return free > 0 && this.more
				&& (this.atLimit || this.full.stream()
					.map((name) -> window(handler(name)))
					.anyMatch((window) -> window.isHalfFree() && share(window, free, free) > 0));
	}

	/**
	 * Whether the last plan or claim may have left tasks that wait for room in a window.
	 */
	boolean mayHaveMore() {
		return this.more || this.leftOut;
	}

	/**
	 * Whether tasks of limited names wait in the store until others of their name end.
	 */
	boolean waitForSingleEnds() {
		return this.more && this.full.isEmpty() && !this.atLimit;
	}

	/**
	 * After how many ends a claim is worth it. Tasks of limited names may wait for a
	 * single one to end. Where the room is used up, one claim of many tasks costs less
	 * than many claims of few.
	 * @param free how many tasks the node can take
	 * @return the number, {@link Integer#MAX_VALUE} if no task waits for an end
	 */
	int endsToWaitFor(int free) {
		if (waitForSingleEnds()) {
			return 1;
		}
		boolean roomIsUsedUp = mayHaveMore() && (free == 0
				|| this.full.stream().map((name) -> window(handler(name))).anyMatch(NameWindow::isHalfFree));
		int max = this.settings.maxInFlight();
		return roomIsUsedUp ? Math.max(1, Math.min(max / 4, (max - free) / 2)) : Integer.MAX_VALUE;
	}

}
