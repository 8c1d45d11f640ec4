package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.jdbc.ClaimRound.Look;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

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
		this.floors = new ClaimFloors(database.isTimeGiven());
	}

	Claimed claim(ClaimRequest request) {
		Map<String, Long> since = new HashMap<>();
		request.names().keySet().forEach((name) -> since.put(name, this.floors.since(name)));
		boolean hasLimited = request.names().values().stream().anyMatch((share) -> share.limits() != null);
		boolean hasOthers = request.names().values().stream().anyMatch((share) -> share.limits() == null);
		// The names with limits come second. If they had tasks before, they get half.
		int room = (hasLimited && hasOthers && this.limitedWork) ? Math.max(1, request.limit() / 2) : request.limit();
		long start = System.nanoTime();
		ClaimRound round = this.steps.claim(withLimit(request, room), since);
		long arrived = System.nanoTime();
		Result result = new Result(request, round, room);
		if (!result.hasSuspect()) {
			learn(request, since, result, arrived - start);
		}
		if (hasLimited && !result.hasSuspect()) {
			try {
				claimLimited(result, since);
			}
			catch (RuntimeException ex) {
				// The node must learn of the tasks that have begun.
				if (result.tasks.isEmpty()) {
					throw ex;
				}
				logger.warn("A claim of tasks with limits has failed, after the claim of other tasks", ex);
			}
		}
		Set<String> paused = pausedNames(result);
		return result.claimed(round.now() + this.database.millisSince(arrived), paused);
	}

	private Set<String> pausedNames(Result result) {
		try {
			return this.names.keepPaused(result.round.pausedNames());
		}
		catch (RuntimeException ex) {
			if (result.tasks.isEmpty()) {
				throw ex;
			}
			return result.round.pausedNames();
		}
	}

	private static ClaimRequest withLimit(ClaimRequest request, int limit) {
		return new ClaimRequest(request.owner(), request.names(), limit, request.suspect(), request.lookAhead(),
				request.lease(), request.maxPayloadBytes());
	}

	/**
	 * Learns how far the names have been searched. No task of a name with limits is due
	 * before its first one.
	 */
	private void learn(ClaimRequest request, Map<String, Long> since, Result result, long nanos) {
		long now = result.round.now();
		result.round.looks()
			.forEach((name, look) -> this.floors.searched(name, since(since, name), look.dueAt(), now, nanos));
		request.names().forEach((name, share) -> {
			boolean searched = share.limits() == null && share.due() > 0;
			if (searched && !result.round.pausedNames().contains(name)) {
				Long last = result.lastDue(name);
				if (last != null || !result.mayHaveMore(name, share)) {
					this.floors.searched(name, since(since, name), result.mayHaveMore(name, share) ? last : null, now,
							nanos);
				}
			}
		});
	}

	private static long since(Map<String, Long> since, String name) {
		return since.getOrDefault(name, ClaimFloors.SWEEP);
	}

	private void claimLimited(Result result, Map<String, Long> since) {
		ClaimRequest request = result.request;
		if (request.suspect()) {
			for (String name : names(result, (look) -> look.suspectAt() < Long.MAX_VALUE)) {
				result.add(this.limits.takeSuspect(request, name));
				if (result.hasSuspect()) {
					return;
				}
			}
		}
		List<String> due = names(result, (look) -> look.dueAt() < Long.MAX_VALUE || look.endedAt() < Long.MAX_VALUE);
		int room = result.room();
		// Each name comes first in some claims.
		Collections.shuffle(due);
		for (String name : due) {
			claimLimited(result, name, since(since, name));
		}
		this.limitedWork = !due.isEmpty() && (room == 0 || result.room() < room);
	}

	/**
	 * The names of some looks, the earliest suspects first.
	 */
	private static List<String> names(Result result, Predicate<Look> which) {
		List<String> names = new ArrayList<>();
		result.round.looks()
			.entrySet()
			.stream()
			.filter((look) -> which.test(look.getValue()))
			.sorted(Comparator.comparingLong((look) -> look.getValue().suspectAt()))
			.forEach((look) -> names.add(look.getKey()));
		return names;
	}

	private void claimLimited(Result result, String name, long since) {
		Share share = result.share(name);
		int room = Math.min(share.due(), result.room());
		if (share.expireAfter() != null && room > 0) {
			long expireMillis = DueTime.after(share.expireAfter()).resolve(0);
			long dueAt = Objects.requireNonNull(result.round.looks().get(name)).dueAt();
			if (dueAt < result.round.now() - expireMillis) {
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

		private final ClaimRound round;

		private final List<LeasedTask> tasks;

		private final int firstLimit;

		private boolean newSuspects;

		private boolean more;

		private long startAt = Long.MAX_VALUE;

		Result(ClaimRequest request, ClaimRound round, int firstLimit) {
			this.request = request;
			this.round = round;
			this.firstLimit = firstLimit;
			this.tasks = new ArrayList<>(round.tasks());
			this.newSuspects = round.newSuspects();
			this.more = round.left() || hasSuspect() || request.names()
				.entrySet()
				.stream()
				.anyMatch((name) -> name.getValue().limits() == null && mayHaveMore(name.getKey(), name.getValue()));
			round.looks().values().forEach((look) -> this.startAt = Math.min(this.startAt, look.laterAt()));
		}

		boolean hasSuspect() {
			return this.tasks.stream().anyMatch(LeasedTask::suspect);
		}

		Share share(String name) {
			return Objects.requireNonNull(this.request.names().get(name));
		}

		/**
		 * How many more tasks the node wants.
		 */
		int room() {
			return this.request.limit() - this.tasks.size();
		}

		/**
		 * Whether a name without limits may have further tasks to claim now.
		 */
		boolean mayHaveMore(String name, Share share) {
			if (this.round.left() || this.round.tasks().size() >= this.firstLimit) {
				return true;
			}
			long due = 0;
			long soon = 0;
			for (LeasedTask task : this.round.tasks()) {
				if (task.name().equals(name)) {
					due += task.begun() ? 1 : 0;
					soon += task.begun() ? 0 : 1;
				}
			}
			return (due > 0 && due >= share.due()) || (soon > 0 && soon >= share.soon());
		}

		@Nullable Long lastDue(String name) {
			return this.round.tasks()
				.stream()
				.filter((task) -> task.begun() && task.name().equals(name))
				.map(LeasedTask::dueAt)
				.max(Comparator.naturalOrder())
				.orElse(null);
		}

		void add(NameLimits.Taken taken) {
			this.tasks.addAll(taken.tasks());
			this.startAt = Math.min(this.startAt, taken.startAt());
			this.more |= taken.waits();
			this.newSuspects |= taken.newSuspects();
		}

		Claimed claimed(long now, Set<String> paused) {
			this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
			return new Claimed(List.copyOf(this.tasks), now, this.round.nextAt(), this.startAt, this.more,
					this.newSuspects, paused);
		}

	}

}
