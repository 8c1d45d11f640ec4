package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.durable.jdbc.ClaimSteps.Look;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Claim: leases tasks that are due soon, begins those that are due, and makes suspects of
 * the runs whose leases have ended. The first request claims tasks of names without
 * limits and looks at the names with limits. A name with limits that has due tasks takes
 * a transaction more ({@link NameLimits}). Thread-safe.
 */
final class Claims {

	private static final Log logger = LogFactory.getLog(Claims.class);

	private final Database database;

	private final TaskNames names;

	private final ClaimSteps steps;

	private final NameLimits limits;

	private final ClaimFloors floors;

	/** Whether the latest claim took tasks with limits, or had no room for them. */
	private volatile boolean limitedWork;

	Claims(Database database, TaskNames names) {
		this.database = database;
		this.names = names;
		this.steps = database.dialect().isPostgres() ? new PostgresClaims(database) : new PortableClaims(database);
		this.limits = new NameLimits(database, names, this.steps);
		this.floors = new ClaimFloors(database.statements().isTimeGiven());
	}

	Claimed claim(ClaimRequest request) {
		Result result = new Result(request);
		ClaimSteps.Round round = claim(result, request.suspect());
		if (!round.suspects().isEmpty() && !claimSuspect(result, round.suspects())) {
			// The suspects wait for places or for locks.
			round = claim(result, false);
		}
		Set<String> paused = pausedNames(result, round.pausedNames());
		result.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		return new Claimed(List.copyOf(result.tasks), result.now + this.database.millisSince(result.arrived),
				round.nextAt(), result.startAt, result.more, result.newSuspects, paused);
	}

	private ClaimSteps.Round claim(Result result, boolean suspect) {
		ClaimRequest request = result.request;
		Map<String, Long> since = new HashMap<>();
		boolean hasLimited = false;
		boolean hasOthers = false;
		for (Map.Entry<String, Share> name : request.names().entrySet()) {
			since.put(name.getKey(), this.floors.since(name.getKey()));
			hasLimited |= name.getValue().limits() != null;
			hasOthers |= name.getValue().limits() == null;
		}
		// The names with limits come second. If they had tasks before, they get half.
		int limit = (hasLimited && hasOthers && this.limitedWork) ? Math.max(1, request.limit() / 2) : request.limit();
		long start = System.nanoTime();
		ClaimSteps.Round round = this.steps.claim(request(request, request.names(), limit, suspect), since);
		result.add(round);
		if (round.suspects().isEmpty()) {
			learn(result, round, limit, since, result.arrived - start);
			if (hasLimited) {
				claimLimited(result, round, since);
			}
			if (limit < request.limit() && round.tasks().size() >= limit && result.room() > 0) {
				claimRest(result, since);
			}
		}
		return round;
	}

	/**
	 * Claims tasks of names without limits again, since the names with limits have left
	 * room.
	 */
	private void claimRest(Result result, Map<String, Long> since) {
		Map<String, Share> shares = new HashMap<>(result.request.names());
		shares.values().removeIf((share) -> share.limits() != null);
		for (LeasedTask task : result.tasks) {
			shares.computeIfPresent(task.name(), (name, share) -> task.begun()
					? new Share(share.due() - 1, share.soon()) : new Share(share.due(), share.soon() - 1));
		}
		result.add(this.steps.claim(request(result.request, shares, result.room(), false), since));
	}

	private static ClaimRequest request(ClaimRequest request, Map<String, Share> names, int limit, boolean suspect) {
		return new ClaimRequest(request.owner(), names, limit, suspect, request.lookAhead(), request.lease(),
				request.maxPayloadBytes());
	}

	/**
	 * Takes the earliest suspect that may start.
	 */
	private boolean claimSuspect(Result result, List<String> names) {
		for (String name : names) {
			result.add(this.limits.takeSuspect(result.request, name));
			if (!result.tasks.isEmpty()) {
				result.more = true;
				return true;
			}
		}
		return false;
	}

	/**
	 * The paused names. A failure must not hide the tasks that have begun.
	 */
	private Set<String> pausedNames(Result result, Set<String> paused) {
		try {
			return this.names.keepPaused(paused);
		}
		catch (RuntimeException ex) {
			if (result.tasks.isEmpty()) {
				throw ex;
			}
			return paused;
		}
	}

	/**
	 * Learns which names may have more tasks, and how far the names have been searched.
	 * No task of a name with limits is due before its first one.
	 */
	private void learn(Result result, ClaimSteps.Round round, int limit, Map<String, Long> since, long nanos) {
		Map<String, int[]> taken = new HashMap<>();
		Map<String, Long> last = new HashMap<>();
		for (LeasedTask task : round.tasks()) {
			taken.computeIfAbsent(task.name(), (name) -> new int[2])[task.begun() ? 0 : 1]++;
			if (task.begun()) {
				last.merge(task.name(), task.dueAt(), Math::max);
			}
		}
		boolean cut = round.left() || round.tasks().size() >= limit;
		result.request.names().forEach((name, share) -> {
			Look look = round.looks().get(name);
			long from = Objects.requireNonNull(since.get(name));
			if (look != null) {
				this.floors.searched(name, from, look.dueAt(), round.now(), nanos);
			}
			else if (share.limits() == null) {
				int[] counts = taken.getOrDefault(name, new int[2]);
				boolean more = cut || (counts[0] > 0 && counts[0] >= share.due())
						|| (counts[1] > 0 && counts[1] >= share.soon());
				result.more |= more;
				Long lastDue = last.get(name);
				if (share.due() > 0 && !round.pausedNames().contains(name) && (lastDue != null || !more)) {
					this.floors.searched(name, from, (more && lastDue != null) ? lastDue : Long.MAX_VALUE, round.now(),
							nanos);
				}
			}
		});
	}

	private void claimLimited(Result result, ClaimSteps.Round round, Map<String, Long> since) {
		List<String> names = new ArrayList<>();
		round.looks().forEach((name, look) -> {
			if (look.hasDue() || look.hasEnded()) {
				names.add(name);
			}
		});
		int room = result.room();
		// Each name comes first in some claims.
		Collections.shuffle(names);
		try {
			for (String name : names) {
				long late = round.now() - Objects.requireNonNull(round.looks().get(name)).dueAt();
				claimLimited(result, name, late, Objects.requireNonNull(since.get(name)));
			}
		}
		catch (RuntimeException ex) {
			// The node must learn of the tasks that have begun.
			if (result.tasks.isEmpty()) {
				throw ex;
			}
			logger.warn("A claim of tasks with limits has failed, after the claim of other tasks", ex);
		}
		this.limitedWork = !names.isEmpty() && (room == 0 || result.room() < room);
	}

	/**
	 * Claims tasks of a name with limits.
	 * @param late how late its first task is
	 */
	private void claimLimited(Result result, String name, long late, long since) {
		Share share = Objects.requireNonNull(result.request.names().get(name));
		int room = Math.min(share.due(), result.room());
		if (share.expireAfter() != null && room > 0) {
			long expireMillis = Session.millis(share.expireAfter());
			if (late > expireMillis) {
				List<LeasedTask> expired = this.limits.takeExpired(result.request, name, expireMillis, room);
				result.tasks.addAll(expired);
				room -= expired.size();
			}
		}
		if (room == 0) {
			result.more = true;
			return;
		}
		NameLimits.Taken taken = this.limits.take(result.request, name, room, since);
		result.add(taken);
		result.more |= taken.tasks().size() == room;
	}

	/**
	 * What a claim has taken so far.
	 */
	private static final class Result {

		private final ClaimRequest request;

		private final List<LeasedTask> tasks = new ArrayList<>();

		/** The time by the database's clock, and when it arrived. */
		private long now;

		private long arrived;

		private boolean newSuspects;

		private boolean more;

		private long startAt = Long.MAX_VALUE;

		Result(ClaimRequest request) {
			this.request = request;
		}

		void add(ClaimSteps.Round round) {
			this.arrived = System.nanoTime();
			this.now = round.now();
			this.tasks.addAll(round.tasks());
			this.newSuspects |= round.newSuspects();
			this.more |= round.left();
			round.looks().values().forEach((look) -> this.startAt = Math.min(this.startAt, look.laterAt()));
		}

		/**
		 * How many more tasks the node wants.
		 */
		int room() {
			return this.request.limit() - this.tasks.size();
		}

		void add(NameLimits.Taken taken) {
			this.tasks.addAll(taken.tasks());
			this.startAt = Math.min(this.startAt, taken.startAt());
			this.more |= taken.waits();
			this.newSuspects |= taken.newSuspects();
		}

	}

}
