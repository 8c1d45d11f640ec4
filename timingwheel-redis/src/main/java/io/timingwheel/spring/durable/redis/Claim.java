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

	private final boolean severalClocks;

	/**
	 * How much of the limit names without places have if tasks wait that need places:
	 * half.
	 */
	private final int othersShare;

	private final List<LeasedTask> tasks = new ArrayList<>();

	/** The further tasks that the partitions could give. */
	private final List<Candidate> further = new ArrayList<>();

	/** The names that need places and may have more tasks than {@link #further} has. */
	private final Set<String> cut = new HashSet<>();

	private final List<Candidate> suspects = new ArrayList<>();

	/** The names of which deliveries were found lost. */
	private final Set<String> lost = new HashSet<>();

	/** By partition: its first reading of the clock. */
	private final Map<Integer, Long> clocks = new HashMap<>();

	/** By partition: the members of its copy of the set with the paused names. */
	private final Map<Integer, List<String>> paused = new HashMap<>();

	private long roundMillis;

	private long now;

	/**
	 * How long after a partition's reading of its clock the first task is due that the
	 * partition cannot give yet. The partitions read the clock one after another, so a
	 * task may be due within the look-ahead of the latest reading, although its partition
	 * gave it to no node.
	 */
	private long delay = Long.MAX_VALUE;

	private long startAt = Long.MAX_VALUE;

	private boolean more;

	private boolean reached;

	private @Nullable RuntimeException failure;

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
		this.severalClocks = severalClocks;
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
		this.tasks.forEach((task) -> left.computeIfPresent(task.name(), (name, one) -> one.add(task.begun(), -1)));
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
		int rest = this.request.limit() - this.tasks.size();
		this.further.sort(Candidate.BY_TIME);
		boolean given = true;
		while (given) {
			given = false;
			for (Candidate one : this.further) {
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
		this.further.removeIf((one) -> parts.getOrDefault(one.partition(), Map.of()).containsKey(one.name()));
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
		return this.clocks.getOrDefault(partition, this.now)
				+ ((limits.intervalMicros() > 0) ? Math.min(lease, late) : lease);
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
	 * Reads the replies of a round. If a partition fails, the others have leased tasks to
	 * this node nevertheless. After an exception nobody would run them until their leases
	 * end.
	 */
	void read(List<ScriptReply> replies) {
		for (ScriptReply reply : replies) {
			if (reply.failure() != null) {
				this.failure = reply.failure();
			}
			else {
				read(reply);
				readCandidates(reply);
			}
		}
	}

	/**
	 * Reads a reply.
	 * @return how many tasks it has
	 */
	int read(ScriptReply reply) {
		long time = reply.number(0);
		// The latest reading of one clock, the earliest of several clocks
		this.now = (this.reached && this.severalClocks) ? Math.min(this.now, time) : Math.max(this.now, time);
		this.reached = true;
		this.clocks.putIfAbsent(reply.partition(), time);
		this.paused.put(reply.partition(), reply.list(1).texts());
		if (reply.number(2) >= 0) {
			this.delay = Math.min(this.delay, reply.number(2));
		}
		if (reply.number(3) >= 0) {
			startsAt(time + reply.number(3));
		}
		this.lost.addAll(reply.list(4).texts());
		this.more |= reply.flag(5);
		List<LeasedTask> tasks = reply.lists(8).stream().map(ScriptReply::leasedTask).toList();
		this.tasks.addAll(tasks);
		return tasks.size();
	}

	private void readCandidates(ScriptReply reply) {
		ScriptReply times = reply.list(6);
		Map<String, Integer> told = new HashMap<>();
		for (int i = 0; i < times.size(); i += 3) {
			String name = times.text(i);
			this.further.add(new Candidate(reply.partition(), name, times.number(i + 1), times.flag(i + 2)));
			if (needsPlaces(name) && told.merge(name, 1, Integer::sum) >= times(name)) {
				this.cut.add(name);
			}
		}
		ScriptReply suspects = reply.list(7);
		for (int i = 0; i < suspects.size(); i += 2) {
			this.suspects.add(new Candidate(reply.partition(), suspects.text(i), suspects.number(i + 1), false));
		}
	}

	/**
	 * The suspects that are due, the earliest first.
	 */
	List<Candidate> suspects() {
		return this.suspects.stream().sorted(Candidate.BY_TIME).toList();
	}

	/**
	 * Takes tasks that need places out of the further tasks, for as many as there is room
	 * beside the share of the others. If there are suspects of a name, one place is left
	 * to them, since without a free place they could wait for ever.
	 * @return the tasks, empty if there are none or no room
	 */
	List<Wanted> wanted() {
		long others = this.tasks.stream().filter((task) -> !needsPlaces(task.name())).count();
		long waiting = this.further.stream().filter((one) -> !needsPlaces(one.name())).count();
		int room = this.request.limit() - this.tasks.size()
				- (int) Math.max(0, Math.min(waiting, this.othersShare - others));
		Map<String, List<Candidate>> placed = this.further.stream()
			.filter((one) -> one.due() && needsPlaces(one.name()))
			.sorted(Candidate.BY_TIME)
			.collect(Collectors.groupingBy(Candidate::name, LinkedHashMap::new, Collectors.toList()));
		List<Wanted> wanted = new ArrayList<>();
		for (Map.Entry<String, List<Candidate>> one : placed.entrySet()) {
			String name = one.getKey();
			int count = Math.min(Math.min(room, share(name).due()), one.getValue().size());
			if (count > 0) {
				room -= count;
				this.more |= count < one.getValue().size();
				boolean suspects = this.lost.contains(name)
						|| this.suspects.stream().anyMatch((suspect) -> suspect.name().equals(name));
				wanted.add(new Wanted(name, limits(name), one.getValue().subList(0, count), suspects ? 1 : 0));
				this.further.removeIf((candidate) -> candidate.due() && candidate.name().equals(name));
			}
		}
		return wanted;
	}

	/**
	 * Learns that a name has too few places, or starts, for its tasks.
	 */
	void waitsFor(Grant grant) {
		if (grant.starts() == 0) {
			startsAt(grant.wanted().limits().startsAgainAt(grant.nextStart()));
		}
		else {
			this.more = true;
		}
	}

	/**
	 * Learns that a name has places for all tasks that the partitions have told.
	 */
	void hasPlacesFor(Grant grant) {
		this.more |= this.cut.contains(grant.wanted().name());
	}

	private void startsAt(long time) {
		this.startAt = Math.min(this.startAt, time);
	}

	/**
	 * Learns that there may be a task of a limited name that may start now.
	 */
	void startsNow() {
		startsAt(this.now);
	}

	/**
	 * Ends the claim early. Tasks that have begun are returned, since nobody else would
	 * run them until their leases end. The next claim follows at once, and shows whether
	 * the store still fails.
	 */
	void endedBy(RuntimeException failure) {
		if (this.tasks.isEmpty()) {
			throw failure;
		}
		this.delay = 0;
	}

	/**
	 * The result.
	 * @param pausedNames learns the paused names
	 * @throws RuntimeException if no partition has replied
	 */
	Claimed claimed(PausedNames pausedNames) {
		if (this.failure != null && !this.reached) {
			throw this.failure;
		}
		Map<String, Amount> left = left();
		boolean full = !this.names.isEmpty() && this.tasks.size() >= this.request.limit() || this.names.stream()
			.anyMatch((name) -> wanted(name).isExhausted(left.getOrDefault(name, Amount.NONE)));
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		long nextAt = (this.delay < DelayedTaskStore.MAX_TIME) ? this.now + this.delay : Long.MAX_VALUE;
		return new Claimed(List.copyOf(this.tasks), this.now, nextAt, this.startAt,
				this.more || full || !this.further.isEmpty(), !this.lost.isEmpty(), pausedNames.learn(this.paused));
	}

	/**
	 * A task that a partition could give.
	 *
	 * @param time the time by which the partition found the task
	 * @param due whether the task may begin
	 */
	record Candidate(int partition, String name, long time, boolean due) {

		static final Comparator<Candidate> BY_TIME = Comparator.comparingLong(Candidate::time);

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
