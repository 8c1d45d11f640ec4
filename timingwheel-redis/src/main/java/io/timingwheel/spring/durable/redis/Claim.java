package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.redis.Places.Grant;
import io.timingwheel.spring.durable.redis.Places.Wanted;
import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import org.jspecify.annotations.Nullable;

/**
 * One claim from all partitions at once. In the first round each partition gives at most
 * its share of the limits, and the times of a few further tasks. In the second round the
 * partitions that have more tasks give the missing ones, the earliest tasks first. Names
 * whose tasks need places give only times; {@link Claims} begins their tasks.
 *
 * <p>
 * If the limit is less than the number of partitions, or if the node wants a suspect, the
 * first round only asks for times. If a limit cannot be divided evenly, each claim gives
 * the remainder to other partitions. Not thread-safe.
 */
final class Claim {

	/**
	 * The arguments of a call that claims nothing. It reads only the time and
	 * {@code PAUSED}.
	 */
	static final Object[] NOTHING = { false, 0, 0, 0, 0, 0, "", 0 };

	/** Of so many further tasks of a name a partition gives the times. */
	private static final int TIMES = 2;

	/** The smallest number of times if a partition gives only times. */
	private static final int MIN_TIMES = 8;

	/** In milliseconds. A stall that is shorter harms no rate. */
	private static final long MIN_LATE_START = 100;

	private final ClaimRequest request;

	/** In the order of the index. */
	private final List<String> names;

	/** The partitions that answer. Each claim begins with another one. */
	private final List<Integer> open;

	/**
	 * How much of the limit names without places have if tasks wait that need places:
	 * half.
	 */
	private final int othersShare;

	private final ClaimReplies replies;

	/** The names that need places and may have further tasks that no reply has told. */
	private final Set<String> cut = new HashSet<>();

	private long roundMillis;

	/**
	 * Creates a claim.
	 * @param open the partitions to ask
	 * @param severalClocks whether the partitions have several servers
	 * @param turn the number of the claim, which decides who gets the remainder of half
	 * the limit
	 */
	Claim(ClaimRequest request, List<Integer> open, boolean severalClocks, int turn) {
		this.request = request;
		this.names = Partitions.inIndexOrder(request.names().keySet());
		this.open = open;
		this.replies = new ClaimReplies(severalClocks);
		long placed = this.names.stream().filter(this::needsPlaces).count();
		boolean mixed = placed > 0 && placed < this.names.size();
		this.othersShare = mixed ? (request.limit() + turn % 2) / 2 : request.limit();
	}

	private Share share(String name) {
		return Objects.requireNonNull(this.request.names().get(name));
	}

	StartLimits limits(String name) {
		return Objects.requireNonNull(share(name).limits());
	}

	/**
	 * Whether the starts of a name are counted over all partitions. A limit for each key
	 * needs no places, since all tasks of a key are in one partition.
	 */
	boolean needsPlaces(String name) {
		StartLimits limits = share(name).limits();
		return limits != null && (limits.concurrent() > 0 || limits.intervalMicros() > 0);
	}

	ClaimRequest request() {
		return this.request;
	}

	ClaimReplies replies() {
		return this.replies;
	}

	void firstRoundTook(long nanos) {
		this.roundMillis = TimeUnit.NANOSECONDS.toMillis(nanos);
	}

	List<Call> firstRound() {
		if (this.names.isEmpty()) {
			return List.of(Script.CLAIM.on(this.open.get(0), Claim.NOTHING));
		}
		boolean looks = this.request.suspect() || this.request.limit() < this.open.size();
		List<Call> calls = new ArrayList<>();
		for (int i = 0; i < this.open.size(); i++) {
			Call call = call(this.open.get(i), false, looks ? 0 : part(this.othersShare, i), null, 0, null);
			for (String name : this.names) {
				Amount wanted = wanted(name);
				add(call, name, looks ? 0 : part(wanted.due, i), looks ? 0 : part(wanted.soon, i),
						looks || needsPlaces(name) ? times(name) : TIMES);
			}
			calls.add(call);
		}
		return calls;
	}

	/**
	 * The part of a partition, 0 if there is not one for each partition.
	 */
	private int part(int whole, int position) {
		int part = whole / this.open.size();
		return (part > 0 && position < whole % this.open.size()) ? part + 1 : part;
	}

	/**
	 * Of how many tasks a partition gives the times, so that the earliest of all
	 * partitions are among them.
	 */
	private int times(String name) {
		int wanted = Math.min(this.request.limit(), share(name).due() + share(name).soon());
		return Math.min(wanted, wanted / this.open.size() + MIN_TIMES);
	}

	/**
	 * How many tasks of a name the two rounds may give. Limited names lease only the
	 * tasks that are too late to start.
	 */
	private Amount wanted(String name) {
		Share share = share(name);
		int soon = (share.limits() == null) ? share.soon() : (share.expireAfter() != null) ? this.request.limit() : 0;
		return new Amount(needsPlaces(name) ? 0 : share.due(), soon);
	}

	/**
	 * What is left of the wanted tasks.
	 */
	private Map<String, Amount> left() {
		Map<String, Amount> left = new HashMap<>();
		this.names.forEach((name) -> left.put(name, wanted(name)));
		this.replies.tasks()
			.forEach((task) -> left.computeIfPresent(task.name(), (name, one) -> one.add(task.begun(), -1)));
		return left;
	}

	/**
	 * Shares what is left among the partitions that have given the times of further
	 * tasks: one for each of the earliest of these tasks. If there are too few such
	 * tasks, these partitions share the rest evenly, as they may have more tasks.
	 */
	List<Call> secondRound() {
		Map<Integer, Map<String, Amount>> parts = new LinkedHashMap<>();
		Map<String, Amount> left = left();
		int rest = this.request.limit() - this.replies.tasks().size();
		List<Candidate> further = this.replies.further();
		boolean given = true;
		while (given) {
			given = false;
			for (Candidate one : further) {
				Amount ofName = left.getOrDefault(one.name(), Amount.NONE);
				if (rest > 0 && (one.due() ? ofName.due : ofName.soon) > 0) {
					left.put(one.name(), ofName.add(one.due(), -1));
					parts.computeIfAbsent(one.partition(), (any) -> new LinkedHashMap<>())
						.merge(one.name(), Amount.NONE.add(one.due(), 1), Amount::plus);
					rest--;
					given = true;
				}
			}
		}
		further.removeIf((one) -> parts.getOrDefault(one.partition(), Map.of()).containsKey(one.name()));
		List<Call> calls = new ArrayList<>();
		parts.forEach((partition, names) -> {
			int total = names.values().stream().mapToInt((one) -> one.due + one.soon).sum();
			Call call = call(partition, false, total, null, 0, null);
			this.names.stream().filter(names::containsKey).forEach((name) -> {
				Amount part = names.getOrDefault(name, Amount.NONE);
				add(call, name, part.due, part.soon, TIMES);
			});
			calls.add(call);
		});
		return calls;
	}

	/**
	 * A call that begins tasks of a name, or leases a suspect.
	 */
	Call call(Begin begin) {
		Call call = call(begin.partition(), begin.suspect(), begin.count(), begin.grant(), begin.from(),
				begin.suspect() ? null : lastStart(begin.partition(), limits(begin.name())));
		add(call, begin.name(), begin.suspect() ? 0 : begin.count(), 0, 0);
		return call;
	}

	/**
	 * The last time at which tasks may begin for which this claim takes places, or starts
	 * of a rate, by the clock of their partition. The node or Redis may stall meanwhile.
	 * The places end with their lease. The starts are lost after the time of a burst, so
	 * that late tasks add no more than a burst to a second; in a slow network they have
	 * more time.
	 */
	private long lastStart(int partition, StartLimits limits) {
		long lease = Math.min(TimeUnit.MILLISECONDS.convert(this.request.lease()), DelayedTaskStore.MAX_TIME) - 1;
		long burst = limits.burst() * limits.intervalMicros() / 1000;
		long late = Math.max(Math.max(burst, MIN_LATE_START), 4 * this.roundMillis);
		return this.replies.clock(partition) + ((limits.intervalMicros() > 0) ? Math.min(lease, late) : lease);
	}

	private Call call(int partition, boolean suspect, int limit, @Nullable Grant grant, int from,
			@Nullable Long lastStart) {
		return Script.CLAIM.on(partition, suspect, this.request.lookAhead(), this.request.lease(),
				this.request.maxPayloadBytes(), Math.min(limit, TaskBatch.MAX_TASKS), lastStart,
				(grant != null) ? grant.prefix() : "", (grant != null) ? grant.first() + from : 0);
	}

	private void add(Call call, String name, int due, int soon, int times) {
		Share share = share(name);
		StartLimits limits = share.limits();
		call.with(name, due, soon, times, limits != null, (limits != null) ? limits.perKey() : 0, share.expireAfter());
	}

	/**
	 * Reads the replies of a round.
	 */
	void read(List<ScriptReply> replies) {
		for (ScriptReply reply : replies) {
			this.replies.read(reply);
			if (reply.failure() == null) {
				this.replies.readCandidates(reply).forEach((name, count) -> {
					if (needsPlaces(name) && count >= times(name)) {
						this.cut.add(name);
					}
				});
			}
		}
	}

	/**
	 * Takes tasks that need places out of the further tasks, for as many as there is room
	 * beside the share of the others. If there are suspects of a name, one place is left
	 * to them, since without a free place they could wait for ever.
	 * @return the tasks, empty if there are none or no room
	 */
	List<Wanted> wanted() {
		long others = this.replies.tasks().stream().filter((task) -> !needsPlaces(task.name())).count();
		List<Candidate> further = this.replies.further();
		long waiting = further.stream().filter((one) -> !needsPlaces(one.name())).count();
		int room = this.request.limit() - this.replies.tasks().size()
				- (int) Math.max(0, Math.min(waiting, this.othersShare - others));
		Map<String, List<Candidate>> placed = further.stream()
			.filter((one) -> one.due() && needsPlaces(one.name()))
			.collect(Collectors.groupingBy(Candidate::name, LinkedHashMap::new, Collectors.toList()));
		List<Wanted> wanted = new ArrayList<>();
		for (Map.Entry<String, List<Candidate>> one : placed.entrySet()) {
			String name = one.getKey();
			int count = Math.min(Math.min(room, share(name).due()), one.getValue().size());
			if (count > 0) {
				room -= count;
				this.replies.hasMore(count < one.getValue().size());
				wanted.add(new Wanted(name, limits(name), one.getValue().subList(0, count),
						this.replies.hasSuspects(name) ? 1 : 0));
				further.removeIf((candidate) -> candidate.due() && candidate.name().equals(name));
			}
		}
		return wanted;
	}

	/**
	 * Learns how many places, or starts, a name has for its tasks.
	 */
	void learn(Grant grant) {
		if (grant.taken() == grant.wanted().tasks().size()) {
			this.replies.hasMore(this.cut.contains(grant.wanted().name()));
		}
		else if (grant.reply().failure() == null && grant.starts() == 0) {
			this.replies.startsAt(grant.wanted().limits().startsAgainAt(grant.nextStart()));
		}
		else if (grant.reply().failure() == null) {
			this.replies.hasMore(true);
		}
	}

	Claimed claimed(PausedNames pausedNames) {
		Map<String, Amount> left = left();
		this.replies.hasMore(!this.names.isEmpty() && this.replies.tasks().size() >= this.request.limit());
		this.replies.hasMore(
				this.names.stream().anyMatch((name) -> wanted(name).isExhausted(left.getOrDefault(name, Amount.NONE))));
		return this.replies.claimed(pausedNames);
	}

	/**
	 * Tasks of a name that a partition shall begin, or a suspect that it shall lease.
	 *
	 * @param grant their places, {@code null} if they need none
	 * @param from how many of these places other calls use
	 */
	record Begin(int partition, String name, boolean suspect, int count, @Nullable Grant grant, int from) {

	}

	/**
	 * A number of tasks that are due, and of tasks that are due soon. May be less than 0,
	 * since a task that was due soon may be due when it is claimed.
	 */
	private record Amount(int due, int soon) {

		private static final Amount NONE = new Amount(0, 0);

		Amount add(boolean isDue, int count) {
			return new Amount(this.due + (isDue ? count : 0), this.soon + (isDue ? 0 : count));
		}

		Amount plus(Amount other) {
			return new Amount(this.due + other.due, this.soon + other.soon);
		}

		boolean isExhausted(Amount left) {
			return (this.due > 0 && left.due <= 0) || (this.soon > 0 && left.soon <= 0);
		}

	}

}
