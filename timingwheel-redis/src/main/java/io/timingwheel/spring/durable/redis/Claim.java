package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.durable.redis.Script.Call;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.task.internal.TaskLog;
import org.jspecify.annotations.Nullable;

/**
 * One claim: the calls of its rounds, and their replies. If a partition fails, the
 * replies of the others count, since nobody else would run their tasks until the leases
 * end. Not thread-safe.
 */
final class Claim {

	/** Arguments of a call that reads only the time and {@code PAUSED}. */
	static final Object[] NOTHING = { false, 0, 0, 0, 0, 0 };

	/** The position of the first task in a reply. */
	private static final int TASKS = 8;

	private static final StartLimits NO_LIMITS = new StartLimits(0, 0, 0, 1);

	private final ClaimRequest request;

	/** The names of each partition that the claim asks. */
	private final Map<Integer, List<String>> names;

	private final boolean severalClocks;

	private final List<LeasedTask> tasks = new ArrayList<>();

	private final Map<String, Integer> due = new HashMap<>();

	private final Map<String, Integer> soon = new HashMap<>();

	/** The latest reply of each partition. */
	private final Map<Integer, ScriptReply> latest = new HashMap<>();

	private long now;

	private boolean newSuspects;

	private boolean more;

	private final List<ScriptReply> failed = new ArrayList<>();

	Claim(ClaimRequest request, Map<Integer, List<String>> names, boolean severalClocks) {
		this.request = request;
		this.names = names;
		this.severalClocks = severalClocks;
	}

	Call call(int partition, boolean suspect, int limit, int tells) {
		Call call = Script.CLAIM.on(partition, suspect, this.request.lookAhead(), this.request.lease(),
				this.request.maxPayloadBytes(), Math.min(limit, TaskBatch.MAX_TASKS), tells);
		this.names.getOrDefault(partition, List.of()).forEach((name) -> {
			Share share = share(name);
			StartLimits limits = Objects.requireNonNullElse(share.limits(), NO_LIMITS);
			call.with(name, share.due() - this.due.getOrDefault(name, 0),
					share.soon() - this.soon.getOrDefault(name, 0), share.limits() != null, limits.concurrent(),
					limits.perKey(), limits.intervalMicros(), limits.burst(), share.expireAfter());
		});
		return call;
	}

	private Share share(String name) {
		return Objects.requireNonNull(this.request.names().get(name));
	}

	/** How many tasks this node wants of a partition. */
	int wanted(int partition) {
		long wanted = this.names.getOrDefault(partition, List.of())
			.stream()
			.mapToLong((name) -> (long) share(name).due() + share(name).soon())
			.sum();
		return (int) Math.min(this.request.limit(), wanted);
	}

	void read(ScriptReply reply) {
		if (reply.failure() != null) {
			this.failed.add(reply);
			return;
		}
		long time = reply.number(0);
		// The latest reading of one clock, the earliest of several clocks
		this.now = (this.severalClocks && !this.latest.isEmpty()) ? Math.min(this.now, time) : Math.max(this.now, time);
		this.latest.put(reply.partition(), reply);
		this.newSuspects |= reply.flag(4);
		for (ScriptReply one : reply.lists(TASKS)) {
			LeasedTask task = one.leasedTask();
			boolean due = task.begun() || share(task.name()).limits() != null;
			(due ? this.due : this.soon).merge(task.name(), 1, Integer::sum);
			this.tasks.add(task);
		}
	}

	/** How many tasks a partition has given. */
	static int tasks(ScriptReply reply) {
		return reply.size() - TASKS;
	}

	/** The times of further tasks. */
	static List<Long> further(ScriptReply reply) {
		return reply.list(7).numbers();
	}

	int room() {
		return this.request.limit() - this.tasks.size();
	}

	/** The partition with the earliest suspect that may begin, {@code null} for none. */
	@Nullable Integer suspect() {
		return this.latest.values()
			.stream()
			.filter((reply) -> reply.number(6) >= 0)
			.min(Comparator.comparingLong((reply) -> reply.number(6)))
			.map(ScriptReply::partition)
			.orElse(null);
	}

	/** The partitions of the further tasks, the earliest task first. */
	List<Integer> earliest() {
		return this.latest.values()
			.stream()
			.flatMap((reply) -> further(reply).stream().map((time) -> Map.entry(time, reply.partition())))
			.sorted(Map.Entry.comparingByKey())
			.map(Map.Entry::getValue)
			.toList();
	}

	/**
	 * Ends the claim early, with the tasks that it has taken. The next claim follows at
	 * once, and shows whether the store still fails.
	 */
	void endedBy(RuntimeException failure) {
		if (this.tasks.isEmpty()) {
			throw failure;
		}
		this.more = true;
	}

	/**
	 * What the claim has taken.
	 * @throws RuntimeException if no partition has answered, or none has given tasks and
	 * the only server does not run scripts that write
	 */
	Claimed claimed(TaskLog failures) {
		for (ScriptReply reply : this.failed) {
			RuntimeException failure = Objects.requireNonNull(reply.failure());
			boolean refusal = RedisErrors.isRefusal(failure);
			if (this.latest.isEmpty() || (!refusal && !this.severalClocks && this.tasks.isEmpty())) {
				throw failure;
			}
			if (refusal) {
				failures.warn("Redis does not give the durable tasks %s, and they wait: %s"
					.formatted(this.names.get(reply.partition()), failure.getMessage()));
			}
		}
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		long nextAt = Long.MAX_VALUE;
		long startAt = Long.MAX_VALUE;
		Set<String> paused = new HashSet<>();
		for (ScriptReply reply : this.latest.values()) {
			// The partitions read the clock one after another, so the time itself may be
			// within the look-ahead of the latest reading.
			nextAt = (reply.number(2) >= 0) ? Math.min(nextAt, this.now + reply.number(2)) : nextAt;
			startAt = (reply.number(3) >= 0) ? Math.min(startAt, reply.number(0) + reply.number(3)) : startAt;
			this.more |= reply.flag(5) || !further(reply).isEmpty();
			paused.addAll(reply.list(1).texts());
		}
		return new Claimed(List.copyOf(this.tasks), this.now, nextAt, startAt, this.more, this.newSuspects, paused);
	}

}
