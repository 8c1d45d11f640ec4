package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * What a claim has taken and seen so far. Not thread-safe.
 */
final class Claim {

	static final long NEVER = Long.MAX_VALUE;

	final ClaimRequest request;

	final List<LeasedTask> tasks = new ArrayList<>();

	/** The time by the database's clock, and when it arrived. */
	long now;

	long arrived;

	long nextAt = NEVER;

	long startAt = NEVER;

	boolean more;

	boolean newSuspects;

	Set<String> pausedNames = Set.of();

	/** The names in which suspects wait, the earliest first, if the node wants one. */
	List<String> suspects = List.of();

	/** The first tasks of the names with limits that are not paused. */
	Map<String, Look> looks = Map.of();

	Claim(ClaimRequest request) {
		this.request = request;
	}

	Share share(String name) {
		return Objects.requireNonNull(this.request.names().get(name));
	}

	Look look(String name) {
		return Objects.requireNonNull(this.looks.get(name));
	}

	boolean isLimited(String name) {
		return share(name).limits() != null;
	}

	/**
	 * Takes the tasks of names without limits that a request has claimed.
	 * @param limit how many the request might claim
	 * @param left whether the request has found tasks and not taken them
	 */
	void add(List<LeasedTask> claimed, int limit, boolean left) {
		this.tasks.addAll(claimed);
		this.more |= left || (limit > 0 && claimed.size() >= limit);
		Map<String, int[]> counts = new HashMap<>();
		for (LeasedTask task : claimed) {
			int[] count = counts.computeIfAbsent(task.name(), (name) -> new int[2]);
			Share share = share(task.name());
			this.more |= task.begun() ? ++count[0] >= share.due() : ++count[1] >= share.soon();
		}
	}

	void add(NameLimits.Taken taken) {
		this.tasks.addAll(taken.tasks());
		this.startAt = Math.min(this.startAt, taken.startAt());
		this.more |= taken.more();
		this.newSuspects |= taken.newSuspects();
	}

	/**
	 * The result.
	 * @param elapsed how many milliseconds have passed since the time arrived
	 */
	Claimed result(long elapsed, Set<String> paused) {
		this.tasks.sort(Comparator.comparingLong(LeasedTask::dueAt));
		long laterAt = this.looks.values().stream().mapToLong(Look::laterAt).min().orElse(NEVER);
		return new Claimed(List.copyOf(this.tasks), this.now + elapsed, this.nextAt, Math.min(this.startAt, laterAt),
				this.more, this.newSuspects, paused);
	}

	/**
	 * The times of the first tasks of a name, {@link #NEVER} for none.
	 *
	 * @param dueAt of those that are due
	 * @param endedAt of the runs whose leases have ended
	 * @param laterAt of those that are due later
	 */
	record Look(long dueAt, long endedAt, long laterAt) {

		boolean hasWork() {
			return this.dueAt != NEVER || this.endedAt != NEVER;
		}

	}

}
