package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

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
 * whose tasks need places give only times in both rounds; {@link Limits} begins their
 * tasks.
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

	/** In the order of the index. The scripts refer to names by their numbers. */
	private final List<String> names;

	/** The partitions that answer. Each claim begins with another one. */
	private final List<Integer> open;

	private final boolean severalClocks;

	/**
	 * How many tasks of names without places the claim takes if others wait that need
	 * places: half of the limit.
	 */
	private final int share;

	/** What is left of the limits. */
	private final Allowance left;

	private final List<LeasedTask> tasks = new ArrayList<>();

	/** The further tasks that the partitions could give. */
	private final List<Candidate> further = new ArrayList<>();

	private final List<Candidate> suspects = new ArrayList<>();

	/** The numbers of the names of which deliveries were found lost. */
	private final Set<Integer> lost = new HashSet<>();

	/**
	 * By partition: how long after the partition's reading of its clock the first task is
	 * due that the partition cannot give yet. The partitions read the clock one after
	 * another. A task may therefore be due within the look-ahead of the latest reading,
	 * although its partition did not give the task to any node.
	 */
	private final Map<Integer, Long> later = new HashMap<>();

	/** By partition: its reading of the clock in the first round. */
	private final Map<Integer, Long> clocks = new HashMap<>();

	private long roundMillis;

	/** By partition: the members of its copy of the set with the paused names. */
	private final Map<Integer, List<String>> paused = new HashMap<>();

	private long now;

	private long startAt = Long.MAX_VALUE;

	private boolean more;

	/** Whether calls failed for another reason than their partitions. */
	private boolean broken;

	private boolean reached;

	private @Nullable RuntimeException failure;

	/**
	 * Creates a claim.
	 * @param request the request
	 * @param open the partitions to ask
	 * @param severalClocks whether the partitions have several servers
	 * @param turn the number of the claim, which decides who gets the remainders
	 */
	Claim(ClaimRequest request, List<Integer> open, boolean severalClocks, int turn) {
		this.request = request;
		this.names = Partitions.inIndexOrder(request.names().keySet());
		this.open = open;
		this.severalClocks = severalClocks;
		long placed = IntStream.range(0, this.names.size()).filter(this::needsPlaces).count();
		boolean mixed = placed > 0 && placed < this.names.size();
		this.share = mixed ? (request.limit() + turn % 2) / 2 : request.limit();
		this.left = new Allowance(request.limit(), this.names.size());
		for (int i = 0; i < this.names.size(); i++) {
			Share share = share(i);
			int leased = (share.limits() == null) ? share.soon() : (share.expireAfter() != null) ? request.limit() : 0;
			this.left.set(i, needsPlaces(i) ? 0 : share.due(), leased);
		}
	}

	private Share share(int name) {
		return Objects.requireNonNull(this.request.names().get(this.names.get(name)));
	}

	/**
	 * Whether the starts of a name are counted over all partitions. A limit for each key
	 * needs no places, since all tasks of a key are in one partition.
	 */
	boolean needsPlaces(int name) {
		StartLimits limits = share(name).limits();
		return limits != null && (limits.concurrent() > 0 || limits.intervalMicros() > 0);
	}

	ClaimRequest request() {
		return this.request;
	}

	/**
	 * Learns how long the first round took.
	 */
	void firstRoundTook(long nanos) {
		this.roundMillis = TimeUnit.NANOSECONDS.toMillis(nanos);
	}

	List<Call> firstRound() {
		if (this.names.isEmpty()) {
			return List.of(call(this.open.get(0), this.left, false));
		}
		boolean looks = this.request.suspect() || this.request.limit() < this.open.size();
		List<Call> calls = new ArrayList<>();
		for (int i = 0; i < this.open.size(); i++) {
			int position = i;
			Allowance part = this.left.withAtMost(this.share).map((whole) -> looks ? 0 : share(whole, position));
			calls.add(call(this.open.get(i), part, looks));
		}
		return calls;
	}

	/**
	 * The share of a partition, 0 if there is not one for each partition.
	 */
	private int share(int whole, int position) {
		int share = whole / this.open.size();
		return (share > 0 && position < whole % this.open.size()) ? share + 1 : share;
	}

	/**
	 * Shares what is left among the partitions that have given the times of further
	 * tasks: one for each of the earliest of these tasks. If there are too few such
	 * tasks, these partitions share the rest evenly, as they may have more tasks.
	 */
	List<Call> secondRound() {
		Map<Integer, Allowance> shares = new LinkedHashMap<>();
		boolean placed = this.further.stream().anyMatch((task) -> task.due() && needsPlaces(task.name()));
		Allowance rest = this.left.withAtMost((placed ? this.share : this.request.limit()) - this.tasks.size());
		this.further.sort(Comparator.comparingLong(Candidate::time));
		boolean given = true;
		while (given) {
			given = false;
			for (Candidate one : this.further) {
				if (rest.trySubtract(one.name(), one.due())) {
					shares.computeIfAbsent(one.partition(), (partition) -> rest.map((whole) -> 0))
						.add(one.name(), one.due());
					given = true;
				}
			}
		}
		return shares.entrySet().stream().map((share) -> call(share.getKey(), share.getValue(), false)).toList();
	}

	private Call call(int partition, Allowance share, boolean looks) {
		Call call = head(partition, false, share.total(), Places.Hold.NONE, null);
		for (int i = 0; i < this.names.size(); i++) {
			add(call, i, share.due(i), share.soon(i), looks || needsPlaces(i) ? times(i) : TIMES);
		}
		return call;
	}

	/**
	 * A call that begins tasks of a name.
	 * @param count how many
	 * @param hold their places
	 */
	Call begin(int partition, int name, int count, Places.Hold hold) {
		Call call = head(partition, false, count, hold, lastStart(partition, name));
		add(call, name, count, 0, 0);
		return call;
	}

	/**
	 * A call that leases a suspect.
	 */
	Call suspect(Candidate suspect, Places.Hold hold) {
		Call call = head(suspect.partition(), true, 1, hold, null);
		add(call, suspect.name(), 0, 0, 0);
		return call;
	}

	/**
	 * The last time at which tasks may begin for which this claim takes places, or starts
	 * of a rate, by the clock of their partition. The node or Redis may stall meanwhile.
	 * The places end with their lease. The starts are lost after the time of a burst, so
	 * that late tasks add no more than a burst to a second; in a slow network they have
	 * more time.
	 */
	private long lastStart(int partition, int name) {
		StartLimits limits = Objects.requireNonNull(share(name).limits());
		long lease = Math.min(TimeUnit.MILLISECONDS.convert(this.request.lease()), DelayedTaskStore.MAX_TIME) - 1;
		long burst = limits.burst() * limits.intervalMicros() / 1000;
		long late = Math.max(Math.max(burst, MIN_LATE_START), 4 * this.roundMillis);
		return this.clocks.getOrDefault(partition, this.now)
				+ ((limits.intervalMicros() > 0) ? Math.min(lease, late) : lease);
	}

	private Call head(int partition, boolean suspect, int limit, Places.Hold hold, @Nullable Long lastStart) {
		return Script.CLAIM.on(partition, suspect, this.request.lookAhead(), this.request.lease(),
				this.request.maxPayloadBytes(), Math.min(limit, TaskBatch.MAX_TASKS), lastStart, hold.prefix(),
				hold.first());
	}

	private void add(Call call, int name, int due, int soon, int times) {
		Share share = share(name);
		StartLimits limits = share.limits();
		call.with(this.names.get(name), due, soon, times, limits != null, (limits != null) ? limits.perKey() : 0,
				share.expireAfter());
	}

	/**
	 * Of how many tasks a partition gives the times, so that the earliest of all
	 * partitions are among them.
	 */
	private int times(int name) {
		int wanted = Math.min(this.request.limit(), share(name).due() + share(name).soon());
		return Math.min(wanted, wanted / this.open.size() + MIN_TIMES);
	}

	/**
	 * Reads the replies of a round.
	 */
	void read(List<ScriptReply> replies) {
		for (ScriptReply reply : replies) {
			int partition = reply.partition();
			this.further.removeIf((candidate) -> candidate.partition() == partition);
			if (reply.failure() != null) {
				// The other partitions have leased tasks to this node. After an exception
				// nobody would run them until their leases end.
				this.failure = reply.failure();
				continue;
			}
			long time = readHead(reply);
			ScriptReply lost = reply.list(4);
			for (int i = 0; i < lost.size(); i++) {
				this.lost.add(lost.integer(i));
			}
			this.later.put(partition, (reply.number(2) >= 0) ? reply.number(2) - time : Long.MAX_VALUE);
			addCandidates(reply.list(6), this.further, partition, time);
			addCandidates(reply.list(7), this.suspects, partition, time);
			for (LeasedTask task : tasks(reply)) {
				this.left.subtract(this.names.indexOf(task.name()), task.begun());
			}
		}
	}

	/**
	 * Reads the reply of a call about one name.
	 * @return the tasks
	 */
	List<LeasedTask> read(ScriptReply reply, int name) {
		readHead(reply);
		if (reply.list(4).size() > 0) {
			this.lost.add(name);
		}
		return tasks(reply);
	}

	private List<LeasedTask> tasks(ScriptReply reply) {
		List<LeasedTask> tasks = reply.lists(8).stream().map(ScriptReply::leasedTask).toList();
		this.tasks.addAll(tasks);
		return tasks;
	}

	private long readHead(ScriptReply reply) {
		long time = reply.number(0);
		// The latest reading of one clock, the earliest of several clocks
		this.now = (this.reached && this.severalClocks) ? Math.min(this.now, time) : Math.max(this.now, time);
		this.reached = true;
		this.clocks.putIfAbsent(reply.partition(), time);
		ScriptReply names = reply.list(1);
		List<String> paused = new ArrayList<>();
		for (int i = 0; i < names.size(); i++) {
			paused.add(names.text(i));
		}
		this.paused.put(reply.partition(), paused);
		if (reply.number(3) >= 0) {
			startsAt(reply.number(3));
		}
		this.more |= reply.flag(5);
		return time;
	}

	private void addCandidates(ScriptReply times, List<Candidate> candidates, int partition, long now) {
		for (int i = 0; i < times.size(); i += 2) {
			int name = times.integer(i);
			long time = times.number(i + 1);
			candidates.add(new Candidate(partition, name, time, time <= now && !isTooLate(name, now - time)));
		}
	}

	/**
	 * Whether a task of a limited name is too late to start. It is only leased, as other
	 * names lease tasks that are due soon.
	 */
	private boolean isTooLate(int name, long millis) {
		Duration expireAfter = share(name).expireAfter();
		return share(name).limits() != null && expireAfter != null && millis > expireAfter.toMillis();
	}

	/**
	 * The suspects that are due, the earliest first.
	 */
	List<Candidate> suspects() {
		return this.suspects.stream().sorted(Comparator.comparingLong(Candidate::time)).toList();
	}

	/**
	 * Takes the tasks that need places out of the further tasks.
	 * @return the tasks by the numbers of their names, each list with the earliest first
	 */
	Map<Integer, List<Candidate>> takePlaced() {
		Map<Integer, List<Candidate>> placed = new LinkedHashMap<>();
		this.further.sort(Comparator.comparingLong(Candidate::time));
		this.further.removeIf((candidate) -> {
			boolean taken = needsPlaces(candidate.name()) && candidate.due();
			if (taken) {
				placed.computeIfAbsent(candidate.name(), (name) -> new ArrayList<>()).add(candidate);
			}
			return taken;
		});
		return placed;
	}

	/**
	 * Whether a name has suspects that are due. One place is left to them, since without
	 * a free place they could wait for ever.
	 */
	boolean hasSuspects(int name) {
		return this.lost.contains(name) || this.suspects.stream().anyMatch((suspect) -> suspect.name() == name);
	}

	Places.Request places(int name, int wanted, int left) {
		return new Places.Request(this.names.get(name), Objects.requireNonNull(share(name).limits()), wanted, left);
	}

	/**
	 * How many tasks of a name the node still has room for.
	 * @param others how many tasks of other names will begin
	 */
	int room(int name, int others) {
		return Math.max(0, Math.min(this.request.limit() - this.tasks.size() - others, share(name).due()));
	}

	/**
	 * Learns when a task of a limited name may start that this claim did not start.
	 */
	void startsAt(long time) {
		this.startAt = Math.min(this.startAt, time);
	}

	/**
	 * Learns that there may be a task of a limited name that may start now.
	 */
	void startsNow() {
		startsAt(this.now);
	}

	/**
	 * Learns that there are tasks which wait for room, or for others to end.
	 */
	void hasMore() {
		this.more = true;
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
		this.broken = true;
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
		boolean full = !this.names.isEmpty() && (this.tasks.size() >= this.request.limit() || isExhausted());
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		return new Claimed(List.copyOf(this.tasks), this.now, this.broken ? this.now : nextAt(), this.startAt,
				this.more || full || !this.further.isEmpty(), !this.lost.isEmpty(), pausedNames.learn(this.paused));
	}

	private boolean isExhausted() {
		for (int i = 0; i < this.names.size(); i++) {
			Share share = share(i);
			if ((share.due() > 0 && !needsPlaces(i) && this.left.due(i) <= 0)
					|| (share.soon() > 0 && share.limits() == null && this.left.soon(i) <= 0)) {
				return true;
			}
		}
		return false;
	}

	private long nextAt() {
		long delay = this.later.values().stream().mapToLong(Long::longValue).min().orElse(Long.MAX_VALUE);
		return (delay < Long.MAX_VALUE) ? Math.min(this.now + delay, DelayedTaskStore.MAX_TIME) : Long.MAX_VALUE;
	}

	/**
	 * A task that a partition could give.
	 *
	 * @param partition the partition
	 * @param name the number of its name
	 * @param time the time by which the partition found the task
	 * @param due whether the task may begin
	 */
	record Candidate(int partition, int name, long time, boolean due) {

	}

}
