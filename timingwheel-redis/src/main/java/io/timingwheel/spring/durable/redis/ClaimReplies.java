package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.jspecify.annotations.Nullable;

/**
 * What the partitions have replied to one claim. If one fails, the replies of the others
 * count, since nobody else would run their tasks until the leases end. Not thread-safe.
 */
final class ClaimReplies {

	private final boolean severalClocks;

	private final List<LeasedTask> tasks = new ArrayList<>();

	private final List<Candidate> further = new ArrayList<>();

	private final List<Candidate> suspects = new ArrayList<>();

	private final Set<String> lost = new HashSet<>();

	/** The first readings. */
	private final Map<Integer, Long> clocks = new HashMap<>();

	private final Map<Integer, List<String>> paused = new HashMap<>();

	private long now;

	/**
	 * How long after its reading of the clock a partition can give the next task. The
	 * partitions read it one after another, so the time itself may be within the
	 * look-ahead of the latest reading.
	 */
	private long delay = Long.MAX_VALUE;

	private long startAt = Long.MAX_VALUE;

	private boolean more;

	private @Nullable RuntimeException failure;

	ClaimReplies(boolean severalClocks) {
		this.severalClocks = severalClocks;
	}

	List<LeasedTask> read(ScriptReply reply) {
		if (reply.failure() != null) {
			this.failure = reply.failure();
			return List.of();
		}
		long time = reply.number(0);
		// The latest reading of one clock, the earliest of several clocks
		this.now = (!this.clocks.isEmpty() && this.severalClocks) ? Math.min(this.now, time) : Math.max(this.now, time);
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
		ScriptReply times = reply.list(6);
		for (int i = 0; i < times.size(); i += 3) {
			this.further.add(new Candidate(reply.partition(), times.text(i), times.number(i + 1), times.flag(i + 2)));
		}
		ScriptReply suspects = reply.list(7);
		for (int i = 0; i < suspects.size(); i += 2) {
			this.suspects.add(new Candidate(reply.partition(), suspects.text(i), suspects.number(i + 1), false));
		}
		List<LeasedTask> tasks = reply.lists(8).stream().map(ScriptReply::leasedTask).toList();
		this.tasks.addAll(tasks);
		return tasks;
	}

	List<LeasedTask> tasks() {
		return this.tasks;
	}

	/**
	 * The further tasks, the earliest first. The list can be changed.
	 */
	List<Candidate> further() {
		this.further.sort(Candidate.BY_TIME);
		return this.further;
	}

	/** The first suspect of each name. */
	Collection<Candidate> suspects() {
		return this.suspects.stream()
			.sorted(Candidate.BY_TIME)
			.collect(
					Collectors.toMap(Candidate::name, Function.identity(), (first, other) -> first, LinkedHashMap::new))
			.values();
	}

	boolean hasSuspects(String name) {
		return this.lost.contains(name) || this.suspects.stream().anyMatch((suspect) -> suspect.name().equals(name));
	}

	long clock(int partition) {
		return this.clocks.getOrDefault(partition, this.now);
	}

	void startsAt(long time) {
		this.startAt = Math.min(this.startAt, time);
	}

	void startsNow() {
		startsAt(this.now);
	}

	void hasMore(boolean more) {
		this.more |= more;
	}

	/**
	 * Ends the claim early, with the tasks that have begun. The next claim follows at
	 * once, and shows whether the store still fails.
	 */
	void endedBy(RuntimeException failure) {
		if (this.tasks.isEmpty()) {
			throw failure;
		}
		this.delay = 0;
	}

	Claimed claimed(PausedNames pausedNames) {
		if (this.failure != null && this.clocks.isEmpty()) {
			throw this.failure;
		}
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		long nextAt = (this.delay < DelayedTaskStore.MAX_TIME) ? this.now + this.delay : Long.MAX_VALUE;
		return new Claimed(List.copyOf(this.tasks), this.now, nextAt, this.startAt,
				this.more || !this.further.isEmpty(), !this.lost.isEmpty(), pausedNames.learn(this.paused));
	}

	record Candidate(int partition, String name, long time, boolean due) {

		static final Comparator<Candidate> BY_TIME = Comparator.comparingLong(Candidate::time);

	}

}
