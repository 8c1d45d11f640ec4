package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StartLimits;

/**
 * The lanes of this node, one for each handler. Decides what a claim takes of each name.
 * {@link #of} is thread-safe; only the poller calls the other methods.
 */
final class Lanes {

	private final Map<String, Lane> lanes = new ConcurrentHashMap<>();

	private final DurableHandlerRegistry handlers;

	private final InFlight inFlight;

	private final NamePolicies policies;

	private final Consumer<DurableRun> beginner;

	private final Runnable onRoom;

	private final NodeTurns clock;

	/** The lanes that got tasks with the last claim. */
	private Set<Lane> busy = Set.of();

	/** The names that got less than the room of the claim, so that others have room. */
	private final Set<String> shortNames = new HashSet<>();

	/**
	 * The lanes with tasks that the last claim left in the store, where they wait for
	 * others.
	 */
	private Set<Lane> heldInStore = Set.of();

	/**
	 * Creates an empty set.
	 * @param handlers the handlers of this node
	 * @param inFlight the tasks of this node
	 * @param policies what keeps the node from starting tasks
	 * @param beginner gets the tasks that have waited in a lane when there is room for
	 * them
	 * @param onRoom called when there is room that a claim had to do without
	 * @param clock the clock of the node
	 */
	Lanes(DurableHandlerRegistry handlers, InFlight inFlight, NamePolicies policies, Consumer<DurableRun> beginner,
			Runnable onRoom, NodeTurns clock) {
		this.handlers = handlers;
		this.inFlight = inFlight;
		this.policies = policies;
		this.beginner = beginner;
		this.onRoom = onRoom;
		this.clock = clock;
	}

	Lane of(DurableHandler handler) {
		return this.lanes.computeIfAbsent(handler.name(),
				(name) -> new Lane(this.clock::nanoTime, this.beginner, this.onRoom));
	}

	private Lane of(String name) {
		return of(Objects.requireNonNull(this.handlers.find(name)));
	}

	/**
	 * What a claim takes of each name at most, nothing of a paused name. The names that
	 * got tasks with the last claim divide the room among each other, so that the store
	 * does not lock many more tasks than there is room for. A name with a backlog gets no
	 * tasks that are due later.
	 * @param room the room for all names together, reserved by the caller
	 * @param soon how many tasks of a name that are due later
	 * @param everyName whether to include the names that have no room
	 */
	Map<String, Limit> limits(int room, int soon, boolean everyName) {
		Set<String> names = this.handlers.names();
		boolean several = names.stream().map(this::of).distinct().limit(2).count() > 1;
		int divided = (2 * room + this.busy.size() - 1) / Math.max(1, this.busy.size());
		Map<String, Limit> limits = new HashMap<>();
		this.shortNames.clear();
		for (String name : names) {
			DurableHandler handler = Objects.requireNonNull(this.handlers.find(name));
			if (this.policies.isPaused(handler, name)) {
				continue;
			}
			Lane lane = of(handler);
			int share = several ? Math.min(room, this.inFlight.share(lane, room)) : room;
			int own = share;
			if (this.busy.size() > 1 && this.busy.contains(lane)) {
				share = Math.min(share, divided);
			}
			int due = (share > 0) ? Math.min(share, lane.room()) : 0;
			if (own < room && due >= own) {
				this.shortNames.add(name);
			}
			if (due > 0 || everyName) {
				boolean later = due > 0 && !lane.hasBacklog() && this.policies.limits(handler) == null;
				limits.put(name, new Limit(due, later ? Math.min(share, soon) : 0));
			}
		}
		return limits;
	}

	/**
	 * How many tasks this node holds of each short name at least. A short name got less
	 * than the room of the last claim because of its share, and may have more tasks in
	 * the store. It gets more when tasks that the node holds have ended.
	 * @return empty if there is no short name
	 */
	OptionalInt leastHeldOfShortNames() {
		return this.shortNames.stream().mapToInt((name) -> of(name).size()).min();
	}

	/**
	 * The limits of the names of a claim that hold over all nodes. The lanes of these
	 * names notice the tasks that leave this node from now on.
	 */
	Map<String, StartLimits> startLimits(Set<String> names) {
		Map<String, StartLimits> startLimits = new HashMap<>();
		for (String name : names) {
			StartLimits limits = this.policies.limits(Objects.requireNonNull(this.handlers.find(name)));
			if (limits != null) {
				startLimits.put(name, limits);
				of(name).claiming();
			}
		}
		return startLimits;
	}

	/**
	 * How late the tasks of limited names may start, for the names whose tasks expire.
	 */
	Map<String, Duration> expireAfter(Set<String> limitedNames) {
		Map<String, Duration> expireAfter = new HashMap<>();
		for (String name : limitedNames) {
			Duration late = Objects.requireNonNull(this.handlers.find(name)).expireAfter();
			if (late != null) {
				expireAfter.put(name, late);
			}
		}
		return expireAfter;
	}

	/**
	 * Learns which of the limited names have tasks that wait until others of the name
	 * end. The lanes learn of these tasks in {@link #mayHaveMore}, once they have those
	 * of the claim.
	 */
	void heldInStore(Set<String> names, Set<String> heldBack) {
		this.heldInStore = names.stream().filter(heldBack::contains).map(this::of).collect(Collectors.toSet());
	}

	/**
	 * Learns from a claim whose tasks the lanes have got.
	 * @return whether the store may have more tasks for which there is room now; if a
	 * lane has no room, the callback comes when there is
	 */
	boolean mayHaveMore(Map<String, Limit> limits, List<LeasedTask> tasks) {
		ClaimedCounts counts = ClaimedCounts.of(tasks);
		this.busy = counts.names().stream().map(this::of).collect(Collectors.toSet());
		this.heldInStore.forEach(Lane::holdInStore);
		this.heldInStore = Set.of();
		boolean more = false;
		for (Map.Entry<String, Limit> limit : limits.entrySet()) {
			String name = limit.getKey();
			if (limit.getValue().due() > 0) {
				Lane lane = of(name);
				boolean backlog = counts.due(name) >= limit.getValue().due();
				lane.setBacklog(backlog);
				boolean full = backlog || counts.soon(name) >= Math.max(1, limit.getValue().soon());
				if (!full) {
					this.shortNames.remove(name);
				}
				more |= full && !this.shortNames.contains(name) && !lane.expectRoom();
			}
		}
		return more;
	}

}
