package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.durable.redis.Places.Grant;
import io.timingwheel.spring.durable.redis.RedisLimitedClaims.EarliestTimes;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.redis.TaskClaims.Begun;
import io.timingwheel.spring.durable.support.LimitedClaims;
import io.timingwheel.spring.durable.support.PartialClaim;
import org.jspecify.annotations.Nullable;

/**
 * Claims tasks of names whose starts are limited over all nodes. A claim first looks
 * whether a name has tasks that are due, then takes places for these tasks
 * ({@link Places}), and then begins the tasks. Thread-safe.
 */
final class RedisLimitedClaims extends LimitedClaims<EarliestTimes> {

	private final PartitionOutages scripts;

	private final int partitions;

	private final TaskClaims claims;

	private final Places places;

	/**
	 * By name with a rate, since the starts of each name are counted by the clock of its
	 * partition.
	 */
	private final Map<String, StartDelays> delays = new ConcurrentHashMap<>();

	/** Those of the name that had the last claim. */
	private volatile StartDelays latestDelays = new StartDelays();

	RedisLimitedClaims(PartitionOutages scripts, int partitions, TaskClaims claims, Places places) {
		this.scripts = scripts;
		this.partitions = partitions;
		this.claims = claims;
		this.places = places;
	}

	@Override
	protected Claimed claimOthers(ClaimRequest request) {
		return this.claims.claim(request);
	}

	@Override
	protected Map<String, EarliestTimes> look(ClaimRequest request) {
		List<String> names = List.copyOf(request.startLimits().keySet());
		Map<String, EarliestTimes> found = new HashMap<>();
		names.forEach((name) -> found.put(name, new EarliestTimes()));
		RuntimeException failure = null;
		boolean reached = false;
		for (ScriptReply reply : this.scripts.run(Script.LOOK_LIMITED.onEach(this.partitions, names.toArray()))) {
			if (reply.failure() != null) {
				failure = reply.failure();
				continue;
			}
			reached = true;
			for (int i = 0; i < names.size(); i++) {
				Objects.requireNonNull(found.get(names.get(i))).add(reply, 1 + 4 * i);
			}
		}
		if (failure != null && !reached) {
			throw failure;
		}
		return found;
	}

	@Override
	protected @Nullable Claimed claimSuspect(ClaimRequest request, Map<String, EarliestTimes> looks) {
		for (Map.Entry<String, EarliestTimes> one : looks.entrySet()) {
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
	 * Ignores the failure of one name while some partitions do not answer, so that the
	 * claim goes on with the other names.
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
			Call call = Script.CLAIM_SUSPECT.on(partition, true, Places.until(grant.ends()), request.maxPayloadBytes(),
					limits.perKey(), name);
			ScriptReply reply = this.scripts.run(List.of(call)).get(0);
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
		this.places.giveBack(name, limits, grant, grant.places());
		if (failure != null) {
			throw failure;
		}
		return null;
	}

	/**
	 * Leases tasks that are too late to start, without places. If a partition fails, the
	 * next claim asks again.
	 */
	@Override
	protected boolean claimExpired(ClaimRequest request, String name, EarliestTimes look, Duration expireAfter,
			int room, PartialClaim claim) {
		List<Integer> partitions = look.partitionsDueBefore(look.now() - expireAfter.toMillis());
		int share = Math.max(1, room / partitions.size());
		List<Call> calls = partitions.stream()
			.limit(room)
			.map((partition) -> Script.CLAIM_EXPIRED.on(partition, name, share, expireAfter, request.lease(),
					request.maxPayloadBytes()))
			.toList();
		boolean more = calls.size() < partitions.size();
		try {
			for (ScriptReply reply : this.scripts.run(calls)) {
				if (reply.failure() == null) {
					more |= reply.size() > share;
					claim.add(IntStream.range(1, reply.size()).mapToObj((i) -> reply.list(i).leasedTask()).toList());
				}
			}
		}
		catch (RuntimeException ex) {
			skipIfMissing(ex);
		}
		return more;
	}

	@Override
	protected void claimLimited(ClaimRequest request, String name, @Nullable EarliestTimes look, int room,
			PartialClaim claim) {
		boolean due = look == null || look.isDue();
		if ((look != null && look.ended) || (due && room > 0)) {
			try {
				claim(request, name, look, due ? room : 0, claim);
			}
			catch (RuntimeException ex) {
				skipIfMissing(ex);
			}
		}
	}

	private void claim(ClaimRequest request, String name, @Nullable EarliestTimes look, int room, PartialClaim claim) {
		StartLimits limits = limits(request, name);
		boolean due = look == null || look.isDue();
		boolean ended = look != null && look.ended;
		boolean suspects = ended || (look != null && !look.suspects.isEmpty());
		// Some node takes a suspect soon. Without a free place the suspect could wait for
		// ever.
		int left = suspects ? 1 : 0;
		Grant grant = this.places.take(name, limits, room, left, request.lease());
		List<String> unused = new ArrayList<>(grant.places());
		boolean late = false;
		if (!unused.isEmpty() || ended) {
			StartDelays ofName = (limits.intervalMicros() > 0 && !unused.isEmpty()) ? delays(name) : null;
			long lastAt = (ofName != null) ? ofName.lastStart(limits, grant.now()) : DelayedTaskStore.MAX_TIME;
			Begun begun = this.claims.claimLimited(request, name, unused.size(), Places.until(grant.ends()),
					limits.perKey(), lastAt);
			late = begun.latest() > lastAt;
			if (ofName != null) {
				ofName.add(begun.latest() - grant.now(), begun.rounds());
				this.latestDelays = ofName;
			}
			claim.add(begun.claimed());
			for (LeasedTask task : begun.claimed().tasks()) {
				hold(name, limits, task, unused.remove(0));
			}
			// Tasks may have begun with these places, so the places stay taken until the
			// leases of these tasks end.
			unused.subList(0, Math.min(unused.size(), begun.unknown())).clear();
			this.places.giveBack(name, limits, grant, unused);
			if (limits.perKey() > 0 && !unused.isEmpty() && !late) {
				claim.heldBack(name);
			}
		}
		claim.heard(grant.now());
		int free = grant.free() - grant.places().size();
		if (!grant.places().isEmpty()) {
			if (unused.isEmpty() && !suspects) {
				if (look != null) {
					setBusy(name);
				}
			}
			else {
				setIdle(name);
			}
			if ((look == null || late) && !unused.isEmpty()) {
				// This claim has not looked when the next task is due, or was too late to
				// begin all tasks. The next claim looks.
				claim.startsAt(grant.now());
			}
		}
		if (due && free <= left) {
			claim.heldBack(name);
		}
		if (due && grant.starts() <= grant.places().size()) {
			claim.startsAt(limits.startsAgainAt(grant.nextStart()));
		}
		if (ended && free > 0) {
			// This claim has made a new suspect. The next claim follows at once.
			claim.goesOnAt(grant.now());
		}
	}

	private StartDelays delays(String name) {
		return this.delays.computeIfAbsent(name, (any) -> this.latestDelays.copy());
	}

	private void hold(String name, StartLimits limits, LeasedTask task, String place) {
		if (limits.concurrent() > 0) {
			this.places.hold(task.ref(), name, place);
		}
	}

	/**
	 * The times of the first tasks of a name in all partitions.
	 */
	static final class EarliestTimes implements Look {

		/** Whether the lease of a running task has ended. */
		private boolean ended;

		private long dueAt = Long.MAX_VALUE;

		/** The times of the first tasks that are due, by partition. */
		private final Map<Integer, Long> due = new HashMap<>();

		/** The times of the first suspects by partition. */
		private final Map<Integer, Long> suspects = new HashMap<>();

		private long laterAt = Long.MAX_VALUE;

		private long now;

		void add(ScriptReply reply, int first) {
			this.now = Math.max(this.now, reply.number(0));
			long due = reply.number(first);
			this.dueAt = earliest(this.dueAt, due);
			if (due >= 0) {
				this.due.put(reply.partition(), due);
			}
			this.ended |= reply.number(first + 1) >= 0;
			long suspect = reply.number(first + 2);
			if (suspect >= 0) {
				this.suspects.put(reply.partition(), suspect);
			}
			this.laterAt = earliest(this.laterAt, reply.number(first + 3));
		}

		private static long earliest(long time, long other) {
			return (other >= 0) ? Math.min(time, other) : time;
		}

		@Override
		public long now() {
			return this.now;
		}

		@Override
		public long dueAt() {
			return this.dueAt;
		}

		@Override
		public long laterAt() {
			return this.laterAt;
		}

		boolean isDue() {
			return this.dueAt < Long.MAX_VALUE;
		}

		/**
		 * The partitions with suspects, that of the earliest one first.
		 */
		List<Integer> suspectPartitions() {
			return inOrder(this.suspects).toList();
		}

		/**
		 * The partitions with tasks that are due before a time, that of the earliest one
		 * first.
		 */
		List<Integer> partitionsDueBefore(long time) {
			return inOrder(this.due).filter((partition) -> this.due.getOrDefault(partition, time) < time).toList();
		}

		private static Stream<Integer> inOrder(Map<Integer, Long> times) {
			return times.entrySet().stream().sorted(Map.Entry.comparingByValue()).map(Map.Entry::getKey);
		}

	}

}
