package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;

/**
 * Where claims begin to search the index: for each name a time before which earlier
 * claims have left no task. Without this time a claim would walk over the index entries
 * of all tasks that have run since the oldest snapshot of the database was taken, since
 * vacuum cannot remove them.
 *
 * <p>
 * Tasks may still appear before that time: an application commits late, a node releases a
 * task, or a claim skips a task that another claim has locked. Some claims therefore
 * sweep names: they search from the beginning. The cost of a sweep is the time that it
 * takes beyond the average time of the claims since the sweep before it. So a sweep on a
 * busy database, where each claim takes long, costs little. The pause until the next
 * sweep of these names is twenty times the cost, but at least one second and at most ten
 * seconds. A claim that sweeps a name also sweeps its other names that would be due
 * within a second. Otherwise a busy node with many names would sweep in most claims. A
 * sweep neither causes nor delays a sweep of names that are not in the claim.
 * Thread-safe.
 */
final class ClaimFloors {

	/** The floor of a name that has none. */
	static final long NONE = -DelayedTaskStore.MAX_TIME;

	/** How far a floor stays behind the time, for transactions that commit late. */
	static final long LATE_COMMIT_MILLIS = 1000;

	/** The shortest pause after a sweep. */
	static final Duration SWEEP = Duration.ofSeconds(1);

	private static final int SHARE = 20;

	private static final Duration MAX_GAP = Duration.ofSeconds(10);

	private final LongSupplier nanoTime;

	private final long sweepNanos;

	private final Map<String, Long> floors = new HashMap<>();

	/** When the next sweep of a name is due. A name without a floor is swept anyway. */
	private final Map<String, Long> sweepTimes = new HashMap<>();

	/** By name: how long the claims without a sweep took since the latest sweep. */
	private final Map<String, LongSummaryStatistics> durations = new HashMap<>();

	/**
	 * By name: the earliest time of the tasks that have become claimable since the latest
	 * claim began. The claim may not see them.
	 */
	private final Map<String, Long> changes = new HashMap<>();

	/** How many claims have begun. */
	private long searches;

	/**
	 * Creates floors that begin with a sweep of each name.
	 * @param nanoTime the clock for the sweeps
	 * @param sweep the shortest pause after a sweep
	 */
	ClaimFloors(LongSupplier nanoTime, Duration sweep) {
		this.nanoTime = nanoTime;
		this.sweepNanos = sweep.toNanos();
	}

	/**
	 * Begins a claim. The caller sends its statement at once: the time until
	 * {@link #searched} or {@link #looked} is the duration of a sweep.
	 */
	synchronized Search search(List<String> names) {
		long number = ++this.searches;
		this.changes.clear();
		long now = this.nanoTime.getAsLong();
		long until = names.stream().anyMatch((name) -> isSweepDue(name, now)) ? now + this.sweepNanos : now;
		List<String> swept = names.stream()
			.filter((name) -> !this.floors.containsKey(name) || isSweepDue(name, until))
			.toList();
		swept.forEach(this.floors::remove);
		return new Search(number, names, names.stream().map((name) -> this.floors.getOrDefault(name, NONE)).toList(),
				swept, now);
	}

	/**
	 * Whether a name that has a floor is due for a sweep by a time.
	 */
	private boolean isSweepDue(String name, long time) {
		return this.floors.containsKey(name) && time - this.sweepTimes.getOrDefault(name, time) >= 0;
	}

	/**
	 * Learns from a claim. A name is searched up to the time of the claim if the claim
	 * took fewer tasks than it could. Otherwise the name is searched up to its last task.
	 * @param search the claim
	 * @param found when the tasks were due or their leases ended, by name, in order
	 * @param now the time of the claim
	 */
	synchronized void searched(Search search, ClaimRequest request, Map<String, List<Long>> found, long now) {
		long end = now - LATE_COMMIT_MILLIS;
		int total = found.values().stream().mapToInt(List::size).sum();
		request.names().forEach((name, limit) -> {
			if (request.startLimits().containsKey(name)) {
				// The claim leaves tasks that may not start yet.
				return;
			}
			int due = 0;
			long last = end;
			for (long time : found.getOrDefault(name, List.of())) {
				if (time <= now) {
					due++;
					last = time;
				}
			}
			if (total < request.limit() && due < limit.due()) {
				raise(search, name, end);
			}
			else if (due > 0) {
				raise(search, name, Math.min(last, end));
			}
		});
		ended(search);
	}

	/**
	 * Learns from a search for the first task of each name. No name has a task that is
	 * due before its first one.
	 */
	synchronized void looked(Search search, Map<String, FirstTimes> looks) {
		looks.forEach((name, look) -> raise(search, name, Math.min(look.dueAt(), look.now() - LATE_COMMIT_MILLIS)));
		ended(search);
	}

	private void ended(Search search) {
		long now = this.nanoTime.getAsLong();
		long duration = now - search.began();
		for (String name : search.names()) {
			if (!search.swept().contains(name)) {
				this.durations.computeIfAbsent(name, (key) -> new LongSummaryStatistics()).accept(duration);
			}
		}
		search.swept().forEach((name) -> this.sweepTimes.put(name, now + pause(name, duration)));
	}

	/**
	 * The pause after a sweep. What is known of other claims is used once: if there are
	 * no claims between this sweep and the next one, the whole time of that one counts.
	 */
	private long pause(String name, long duration) {
		LongSummaryStatistics others = this.durations.remove(name);
		long cost = (others != null) ? duration - (long) others.getAverage() : duration;
		return Math.max(this.sweepNanos, Math.min(MAX_GAP.toNanos(), SHARE * cost));
	}

	private void raise(Search search, String name, long floor) {
		if (search.number() == this.searches) {
			this.floors.put(name, Math.min(floor, this.changes.getOrDefault(name, floor)));
		}
	}

	/**
	 * Learns that a task has become claimable. A claim that is under way may not see the
	 * task.
	 * @param time the due time of the task
	 */
	synchronized void claimable(String name, long time) {
		this.floors.computeIfPresent(name, (key, floor) -> Math.min(floor, time));
		this.changes.merge(name, time, Math::min);
	}

	/**
	 * Where a claim begins.
	 *
	 * @param number the number of the claim
	 * @param names the names of the claim
	 * @param floors the times by name, in the order of the names
	 * @param swept the names that the claim searches from the beginning
	 * @param began when the claim began, by the clock for the sweeps
	 */
	record Search(long number, List<String> names, List<Long> floors, List<String> swept, long began) {

		/**
		 * A search that begins with the first task of each name.
		 */
		static Search ofAll(List<String> names) {
			return new Search(0, names, Collections.nCopies(names.size(), NONE), names, 0);
		}

	}

}
