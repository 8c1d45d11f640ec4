package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.jspecify.annotations.Nullable;

/**
 * One claim of tasks from all partitions at once. In the first round each partition gives
 * at most its share of the limits, and the times of a few more tasks. In further rounds
 * the partitions that have more tasks give the missing ones, the earliest tasks first.
 *
 * <p>
 * If the limit is less than the number of partitions, the first round leases nothing and
 * only asks for times, so that the claim gives the earliest tasks of all partitions. If a
 * limit cannot be divided evenly, each claim gives the remainder to other partitions. Not
 * thread-safe.
 */
final class ClaimRounds {

	/** The number of further tasks of which a partition gives only the times. */
	private static final int TIMES = 2;

	private final PartitionOutages scripts;

	private final boolean severalClocks;

	/** The partitions that answer. Each claim begins with another one. */
	private final List<Integer> open;

	private final int limit;

	private final List<String> names;

	private final CallFactory calls;

	/** What is left of the limits. */
	private final Allowance left;

	/** The further tasks that the partitions could give. */
	private final List<Candidate> more = new ArrayList<>();

	/**
	 * By partition: how long after the partition's reading of its clock the first task is
	 * due that the partition cannot give yet. The partitions read the clock one after
	 * another. A task may therefore be due within the look-ahead of the latest reading,
	 * although its partition did not give the task to any node.
	 */
	private final long[] later;

	private final List<ScriptReply> tasks = new ArrayList<>();

	private long now;

	private long latest;

	private boolean reached;

	private @Nullable RuntimeException failure;

	/** Whether calls failed for another reason than their partitions. */
	private boolean broken;

	private int unknown;

	private int count;

	/**
	 * Creates a claim.
	 * @param scripts runs the calls
	 * @param partitions the number of partitions
	 * @param severalClocks whether the partitions have several servers
	 * @param turn the number of the claim, which decides the first partition
	 * @param request the request
	 * @param names the names of the request, in the order of the calls
	 * @param calls makes the calls
	 */
	ClaimRounds(PartitionOutages scripts, int partitions, boolean severalClocks, int turn, ClaimRequest request,
			List<String> names, CallFactory calls) {
		this.scripts = scripts;
		this.severalClocks = severalClocks;
		this.open = new ArrayList<>(scripts.open());
		Collections.rotate(this.open, turn % this.open.size());
		this.limit = request.limit();
		this.names = names;
		this.calls = calls;
		List<Limit> limits = names.stream().map((name) -> Objects.requireNonNull(request.names().get(name))).toList();
		this.left = new Allowance(this.limit, limits.stream().mapToInt(Limit::due).toArray(),
				limits.stream().mapToInt(Limit::soon).toArray());
		this.later = new long[partitions];
		Arrays.fill(this.later, Long.MAX_VALUE);
	}

	/**
	 * Claims tasks.
	 * @throws RuntimeException if no partition has replied
	 */
	Claimed run() {
		Map<Integer, Allowance> shares = new LinkedHashMap<>();
		for (int i = 0; i < this.open.size(); i++) {
			int position = i;
			shares.put(this.open.get(i), this.left.map((whole) -> share(whole, position)));
		}
		ask(shares, (this.limit >= this.open.size()) ? TIMES : this.limit);
		boolean goesOn = true;
		for (shares = allot(); goesOn && !shares.isEmpty(); shares = allot()) {
			int tasksBefore = this.tasks.size();
			int moreBefore = this.more.size();
			ask(shares, TIMES);
			// Other nodes may have taken the tasks. The next claim asks again.
			goesOn = this.tasks.size() > tasksBefore || this.more.size() < moreBefore;
		}
		if (this.failure != null && !this.reached) {
			throw this.failure;
		}
		this.tasks.sort(Comparator.comparingLong(ClaimRounds::foundAt));
		return new Claimed(this.tasks.stream().map(ScriptReply::leasedTask).toList(), this.now, nextAt());
	}

	/**
	 * How many tasks the partitions may have begun whose replies are missing.
	 */
	int unknown() {
		return this.unknown;
	}

	/**
	 * The latest time that a partition has replied, in milliseconds since the epoch.
	 */
	long latest() {
		return this.latest;
	}

	/**
	 * The number of rounds.
	 */
	int count() {
		return this.count;
	}

	private long nextAt() {
		if (this.broken) {
			return this.now;
		}
		long delay = Arrays.stream(this.later).min().orElse(Long.MAX_VALUE);
		return (delay < Long.MAX_VALUE) ? Math.min(this.now + delay, DelayedTaskStore.MAX_TIME) : Long.MAX_VALUE;
	}

	/**
	 * The time in the index by which the claim found a task.
	 */
	private static long foundAt(ScriptReply task) {
		return task.number(12);
	}

	/**
	 * The share of a partition, 0 if there is not one for each partition.
	 */
	private int share(int whole, int position) {
		int count = this.open.size();
		int share = whole / count;
		return (share > 0 && position < whole % count) ? share + 1 : share;
	}

	/**
	 * Asks partitions for tasks.
	 * @param shares what each partition may give
	 * @param times the number of further tasks of which each partition gives the times
	 */
	private void ask(Map<Integer, Allowance> shares, int times) {
		this.count++;
		List<Call> calls = new ArrayList<>();
		shares.forEach((partition, share) -> calls.add(this.calls.call(partition, share, times)));
		for (ScriptReply reply : run(calls)) {
			if (reply.failure() != null && reply.mayHaveRun()) {
				this.unknown += Objects.requireNonNull(shares.get(reply.partition())).total();
			}
			read(reply);
		}
	}

	/**
	 * Turns an exception into failed replies, so that the tasks of earlier calls are not
	 * lost.
	 */
	private List<ScriptReply> run(List<Call> calls) {
		try {
			return this.scripts.run(calls);
		}
		catch (RuntimeException ex) {
			this.broken = true;
			return calls.stream().map((call) -> ScriptReply.failed(call.partition(), ex)).toList();
		}
	}

	private void read(ScriptReply reply) {
		int partition = reply.partition();
		this.more.removeIf((candidate) -> candidate.partition() == partition);
		if (reply.failure() != null) {
			// The other partitions have leased tasks to this node. After an exception
			// nobody would run them until their leases end.
			this.failure = reply.failure();
			return;
		}
		long time = reply.number(0);
		// The latest reading of one clock, the earliest of several clocks
		this.now = (this.reached && this.severalClocks) ? Math.min(this.now, time) : Math.max(this.now, time);
		this.latest = Math.max(this.latest, time);
		this.reached = true;
		this.later[partition] = (reply.number(1) >= 0) ? reply.number(1) - time : Long.MAX_VALUE;
		ScriptReply times = reply.list(2);
		for (int i = 0; i < times.size(); i += 2) {
			this.more.add(new Candidate(times.number(i), partition, times.integer(i + 1), times.number(i) <= time));
		}
		for (int i = 3; i < reply.size(); i++) {
			ScriptReply task = reply.list(i);
			this.tasks.add(task);
			this.left.subtract(this.names.indexOf(task.text(2)), task.flag(7));
		}
	}

	/**
	 * Shares what is left among the partitions that have given the times of further
	 * tasks: one for each of the earliest of these tasks. If there are too few such
	 * tasks, these partitions share the rest evenly, as they may have more tasks.
	 * @return the shares by partition, empty if there is nothing more to claim
	 */
	private Map<Integer, Allowance> allot() {
		Map<Integer, Allowance> shares = new LinkedHashMap<>();
		Allowance rest = this.left.map((whole) -> whole);
		this.more.sort(Comparator.comparingLong(Candidate::time));
		boolean given = true;
		while (given) {
			given = false;
			for (Candidate one : this.more) {
				if (rest.trySubtract(one.name(), one.due())) {
					shares.computeIfAbsent(one.partition(), (partition) -> rest.map((whole) -> 0))
						.add(one.name(), one.due());
					given = true;
				}
			}
		}
		return shares;
	}

	/**
	 * Makes the call of a claim on a partition.
	 */
	interface CallFactory {

		/**
		 * Makes a call.
		 * @param share what the partition may give
		 * @param times the number of further tasks of which the partition gives the times
		 */
		Call call(int partition, Allowance share, int times);

	}

	/**
	 * A task that a partition could give.
	 *
	 * @param time the time by which the partition found the task
	 * @param partition its partition
	 * @param name the number of its name
	 * @param due whether the task is due already
	 */
	private record Candidate(long time, int partition, int name, boolean due) {

	}

}
