package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.jspecify.annotations.Nullable;

/**
 * What the partitions have replied to one claim. If a partition fails, the others have
 * leased tasks to the node nevertheless, so their replies count: after an exception
 * nobody would run these tasks until their leases end. Not thread-safe.
 */
final class ClaimReplies {

	private final boolean severalClocks;

	private final List<LeasedTask> tasks = new ArrayList<>();

	/** The further tasks that the partitions could give. */
	private final List<Candidate> further = new ArrayList<>();

	private final List<Candidate> suspects = new ArrayList<>();

	/** The names of which deliveries were found lost. */
	private final Set<String> lost = new HashSet<>();

	/** By partition: its first reading of the clock. */
	private final Map<Integer, Long> clocks = new HashMap<>();

	/** By partition: the members of its copy of the set with the paused names. */
	private final Map<Integer, List<String>> paused = new HashMap<>();

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
	 * Creates an object without replies.
	 * @param severalClocks whether the partitions have several servers
	 */
	ClaimReplies(boolean severalClocks) {
		this.severalClocks = severalClocks;
	}

	/**
	 * Reads a reply.
	 * @return how many tasks it has
	 */
	int read(ScriptReply reply) {
		if (reply.failure() != null) {
			this.failure = reply.failure();
			return 0;
		}
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

	/**
	 * Reads the times of further tasks, and of suspects, in a reply.
	 * @return how many further tasks of each name it has
	 */
	Map<String, Integer> readCandidates(ScriptReply reply) {
		Map<String, Integer> counts = new HashMap<>();
		ScriptReply times = reply.list(6);
		for (int i = 0; i < times.size(); i += 3) {
			String name = times.text(i);
			this.further.add(new Candidate(reply.partition(), name, times.number(i + 1), times.flag(i + 2)));
			counts.merge(name, 1, Integer::sum);
		}
		ScriptReply suspects = reply.list(7);
		for (int i = 0; i < suspects.size(); i += 2) {
			this.suspects.add(new Candidate(reply.partition(), suspects.text(i), suspects.number(i + 1), false));
		}
		return counts;
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

	/**
	 * The suspects that are due, the earliest first.
	 */
	List<Candidate> suspects() {
		this.suspects.sort(Candidate.BY_TIME);
		return this.suspects;
	}

	/**
	 * Whether a name has suspects.
	 */
	boolean hasSuspects(String name) {
		return this.lost.contains(name) || this.suspects.stream().anyMatch((suspect) -> suspect.name().equals(name));
	}

	/**
	 * The time by the clock of a partition when it replied first.
	 */
	long clock(int partition) {
		return this.clocks.getOrDefault(partition, this.now);
	}

	/**
	 * Learns when a task that waits may start.
	 */
	void startsAt(long time) {
		this.startAt = Math.min(this.startAt, time);
	}

	/**
	 * Learns that a task that waits may start now.
	 */
	void startsNow() {
		startsAt(this.now);
	}

	/**
	 * Learns whether there are more tasks than the claim has got.
	 */
	void hasMore(boolean more) {
		this.more |= more;
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
	 * The result of the claim.
	 * @param pausedNames learns the paused names
	 * @throws RuntimeException if no partition has replied
	 */
	Claimed claimed(PausedNames pausedNames) {
		if (this.failure != null && !this.reached) {
			throw this.failure;
		}
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		long nextAt = (this.delay < DelayedTaskStore.MAX_TIME) ? this.now + this.delay : Long.MAX_VALUE;
		return new Claimed(List.copyOf(this.tasks), this.now, nextAt, this.startAt,
				this.more || !this.further.isEmpty(), !this.lost.isEmpty(), pausedNames.learn(this.paused));
	}

}
