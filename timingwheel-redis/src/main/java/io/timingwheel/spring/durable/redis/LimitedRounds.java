package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.redis.Places.Grant;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * Claims tasks of names whose starts are limited over all nodes. A claim first looks
 * whether a name has tasks that are due, then takes places for them ({@link Places}), and
 * then begins the tasks. Thread-safe.
 */
final class LimitedRounds {

	/** After so many claims without looking for tasks, a claim looks again. */
	private static final int MAX_CLAIMS_WITHOUT_LOOK = 8;

	private final PartitionOutages scripts;

	private final int partitions;

	private final ClaimRounds rounds;

	private final Places places;

	private final AtomicInteger turn = new AtomicInteger();

	/**
	 * How many more claims of a name need not look for tasks. The claims before took all
	 * the tasks that they could, and no run of the name was lost.
	 */
	private final Map<String, Integer> claimsWithoutLook = new ConcurrentHashMap<>();

	LimitedRounds(PartitionOutages scripts, int partitions, ClaimRounds rounds, Places places) {
		this.scripts = scripts;
		this.partitions = partitions;
		this.rounds = rounds;
		this.places = places;
	}

	/**
	 * Claims tasks of limited and of other names. Either comes first in every second
	 * claim, so that each has its turn. A suspect is claimed alone.
	 */
	Claimed claim(ClaimRequest request) {
		Map<String, Outlook> outlooks = mustLook(request) ? look(request) : expected(request);
		if (request.suspect()) {
			Claimed suspect = claimSuspect(request, outlooks);
			if (suspect != null) {
				return suspect;
			}
		}
		Result result = new Result();
		try {
			claim(request, outlooks, result);
		}
		catch (RuntimeException ex) {
			result.endedBy(ex);
		}
		if (result.now == 0) {
			// The partitions of the names do not answer. Others know the time.
			look(request).values().forEach(result::lookedAt);
		}
		return result.claimed();
	}

	private void claim(ClaimRequest request, Map<String, Outlook> outlooks, Result result) {
		boolean limitedFirst = !request.suspect() && (this.turn.getAndIncrement() & 1) == 0;
		if (limitedFirst) {
			claimLimited(request, outlooks, result);
		}
		ClaimRequest others = request.withoutStartLimits(request.limit() - result.tasks.size());
		if (others.limit() > 0 && !others.names().isEmpty()) {
			result.add(this.rounds.claim(others));
		}
		if (!limitedFirst && !result.hasSuspect()) {
			claimLimited(request, outlooks, result);
		}
	}

	private boolean mustLook(ClaimRequest request) {
		return request.suspect() || request.startLimits()
			.keySet()
			.stream()
			.anyMatch((name) -> this.claimsWithoutLook.getOrDefault(name, 0) == 0);
	}

	/**
	 * What the claim expects without looking: tasks that are due, and no lost runs.
	 */
	private Map<String, Outlook> expected(ClaimRequest request) {
		Map<String, Outlook> outlooks = new HashMap<>();
		for (String name : request.startLimits().keySet()) {
			this.claimsWithoutLook.merge(name, -1, (left, change) -> Math.max(0, left + change));
			outlooks.put(name, Outlook.busy());
		}
		return outlooks;
	}

	private Map<String, Outlook> look(ClaimRequest request) {
		List<String> names = List.copyOf(request.startLimits().keySet());
		List<Call> calls = new ArrayList<>();
		for (int partition = 0; partition < this.partitions; partition++) {
			calls.add(Script.LOOK_LIMITED.on(partition, names.toArray()));
		}
		Map<String, Outlook> outlooks = new HashMap<>();
		names.forEach((name) -> outlooks.put(name, new Outlook()));
		RuntimeException failure = null;
		boolean reached = false;
		for (ScriptReply reply : this.scripts.run(calls)) {
			if (reply.failure() != null) {
				failure = reply.failure();
				continue;
			}
			reached = true;
			for (int i = 0; i < names.size(); i++) {
				Objects.requireNonNull(outlooks.get(names.get(i))).add(reply, 1 + 4 * i);
			}
		}
		if (failure != null && !reached) {
			throw failure;
		}
		return outlooks;
	}

	private @Nullable Claimed claimSuspect(ClaimRequest request, Map<String, Outlook> outlooks) {
		for (Map.Entry<String, Outlook> one : outlooks.entrySet()) {
			List<Integer> partitions = one.getValue().suspectPartitions();
			if (!partitions.isEmpty()) {
				try {
					Claimed claimed = claimSuspect(request, one.getKey(), partitions);
					if (claimed != null) {
						return claimed;
					}
				}
				catch (RuntimeException ex) {
					skipIfMissing(ex);
				}
			}
		}
		return null;
	}

	/**
	 * Leaves out a name whose partition does not answer, while others do. The name does
	 * not hold up the names whose partitions answer.
	 */
	private void skipIfMissing(RuntimeException failure) {
		if (this.scripts.partial() == null) {
			throw failure;
		}
	}

	/**
	 * Claims a suspect of a name.
	 * @param partitions the partitions that have suspects
	 * @return {@code null} if no suspect may start
	 */
	private @Nullable Claimed claimSuspect(ClaimRequest request, String name, List<Integer> partitions) {
		StartLimits limits = limits(request, name);
		Grant grant = this.places.take(name, limits, 1, 0, request.lease());
		if (grant.places().isEmpty()) {
			return null;
		}
		RuntimeException failure = null;
		for (int partition : partitions) {
			ScriptReply reply = this.scripts.run(List
				.of(Script.SUSPECT.on(partition, true, until(grant.ends()), request.maxPayloadBytes(), limits.perKey())
					.with(name)))
				.get(0);
			failure = reply.failure();
			if (failure != null && reply.mayHaveRun()) {
				throw failure;
			}
			if (failure == null && reply.size() > 2) {
				LeasedTask task = reply.list(2).leasedTask();
				hold(name, limits, task, grant.places().get(0));
				return new Claimed(List.of(task), reply.number(0), reply.number(0));
			}
		}
		this.places.giveBack(name, limits, grant.places());
		if (failure != null) {
			throw failure;
		}
		return null;
	}

	private void claimLimited(ClaimRequest request, Map<String, Outlook> outlooks, Result result) {
		outlooks.forEach((name, outlook) -> {
			result.lookedAt(outlook);
			Limit limit = Objects.requireNonNull(request.names().get(name));
			int room = Math.min(request.limit() - result.tasks.size(), limit.due());
			if (outlook.ended || (outlook.due && room > 0)) {
				try {
					claim(request, name, outlook, outlook.due ? Math.max(0, room) : 0, result);
				}
				catch (RuntimeException ex) {
					skipIfMissing(ex);
				}
			}
		});
	}

	private void claim(ClaimRequest request, String name, Outlook outlook, int room, Result result) {
		StartLimits limits = limits(request, name);
		boolean suspects = outlook.ended || !outlook.suspects.isEmpty();
		// Some node takes a suspect soon. Without a free place the suspect could wait for
		// ever.
		int left = suspects ? 1 : 0;
		Grant grant = this.places.take(name, limits, room, left, request.lease());
		List<String> unused = new ArrayList<>(grant.places());
		if (!unused.isEmpty() || outlook.ended) {
			ClaimRounds.Limited claimed = this.rounds.claimLimited(request, name, unused.size(), until(grant.ends()),
					limits.perKey());
			result.add(claimed.claimed());
			for (LeasedTask task : claimed.claimed().tasks()) {
				hold(name, limits, task, unused.remove(0));
			}
			// What became of these is not known.
			unused.subList(0, Math.min(unused.size(), claimed.unknown())).clear();
			this.places.giveBack(name, limits, unused);
			if (limits.perKey() > 0 && !unused.isEmpty()) {
				result.heldBack.add(name);
			}
		}
		result.now = Math.max(result.now, grant.now());
		int free = grant.free() - grant.places().size();
		boolean all = unused.isEmpty() && !grant.places().isEmpty();
		if (outlook.looked) {
			this.claimsWithoutLook.put(name, (all && !suspects) ? MAX_CLAIMS_WITHOUT_LOOK : 0);
		}
		else if (!all) {
			this.claimsWithoutLook.put(name, 0);
			if (!grant.places().isEmpty()) {
				// When the next task is due is not known. The next claim looks.
				result.startAt = Math.min(result.startAt, grant.now());
			}
		}
		if (outlook.due && free <= left) {
			result.heldBack.add(name);
		}
		if (outlook.due && grant.starts() <= grant.places().size()) {
			result.startAt = Math.min(result.startAt, limits.startsAgainAt(grant.nextStart()));
		}
		if (outlook.ended && free > 0) {
			// The suspect is a new one. Each node asks for earlier ones now and then.
			result.nextAt = Math.min(result.nextAt, grant.now());
		}
	}

	private void hold(String name, StartLimits limits, LeasedTask task, String place) {
		if (limits.concurrent() > 0) {
			this.places.hold(task.ref(), name, place);
		}
	}

	private static StartLimits limits(ClaimRequest request, String name) {
		return Objects.requireNonNull(request.startLimits().get(name));
	}

	/**
	 * A lease that ends at a time.
	 * @param ends the end, in milliseconds since the epoch
	 */
	static String until(long ends) {
		return "=" + ends;
	}

	/**
	 * The first tasks of a name in all partitions.
	 */
	private static final class Outlook {

		private boolean due;

		private boolean ended;

		/** The times of the first suspects by partition. */
		private final Map<Integer, Long> suspects = new HashMap<>();

		private long laterAt = Long.MAX_VALUE;

		private long now;

		private boolean looked = true;

		static Outlook busy() {
			Outlook outlook = new Outlook();
			outlook.due = true;
			outlook.looked = false;
			return outlook;
		}

		void add(ScriptReply reply, int first) {
			this.now = Math.max(this.now, reply.number(0));
			this.due |= reply.number(first) >= 0;
			this.ended |= reply.number(first + 1) >= 0;
			long suspect = reply.number(first + 2);
			if (suspect >= 0) {
				this.suspects.put(reply.partition(), suspect);
			}
			this.laterAt = (reply.number(first + 3) >= 0) ? Math.min(this.laterAt, reply.number(first + 3))
					: this.laterAt;
		}

		/**
		 * The partitions with suspects, that of the earliest one first.
		 */
		List<Integer> suspectPartitions() {
			return this.suspects.entrySet()
				.stream()
				.sorted(Map.Entry.comparingByValue())
				.map(Map.Entry::getKey)
				.toList();
		}

	}

	/**
	 * The result of a claim of several names.
	 */
	private static final class Result {

		private final List<LeasedTask> tasks = new ArrayList<>();

		private final Set<String> heldBack = new HashSet<>();

		private long now;

		private long nextAt = Long.MAX_VALUE;

		private long startAt = Long.MAX_VALUE;

		void lookedAt(Outlook outlook) {
			this.now = Math.max(this.now, outlook.now);
			this.startAt = Math.min(this.startAt, outlook.laterAt);
		}

		void add(Claimed claimed) {
			this.tasks.addAll(claimed.tasks());
			this.now = Math.max(this.now, claimed.now());
			this.nextAt = Math.min(this.nextAt, claimed.nextAt());
		}

		/**
		 * Ends the claim early. Tasks that have begun are returned, since nobody else
		 * would run them until their leases end. The next claim follows at once, and
		 * shows whether the store still fails.
		 */
		void endedBy(RuntimeException failure) {
			if (this.tasks.isEmpty()) {
				throw failure;
			}
			this.nextAt = this.now;
		}

		boolean hasSuspect() {
			return this.tasks.stream().anyMatch(LeasedTask::suspect);
		}

		Claimed claimed() {
			return new Claimed(List.copyOf(this.tasks), this.now, this.nextAt, this.startAt, Set.copyOf(this.heldBack));
		}

	}

}
