package io.timingwheel.spring.durable.support;

import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.Claimed;

/**
 * How many tasks the next claim takes. Claims grow while the store has a backlog and
 * answers quickly, since a large claim costs less per task. After a claim that leaves
 * nothing behind, claims have the usual size again, so that the nodes share what is due
 * soon. A slow claim makes the next one smaller, because a claim locks its tasks while it
 * runs. Only the poller uses it.
 */
final class ClaimSize {

	/** A claim that has taken no longer than this may grow. */
	static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	/** A claim that has taken longer than this shrinks. */
	static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/** Requests grow to at most this many times the batch size. */
	private static final int GROWTH = 8;

	private final int usual;

	private final int max;

	private int size;

	ClaimSize(DurableSettings settings) {
		this.usual = settings.batchSize();
		this.max = max(settings);
		this.size = this.usual;
	}

	/**
	 * The largest number of tasks in one request. It leaves half of the node's room for
	 * the tasks of the request before. With a batch size of 1 no request grows.
	 */
	static int max(DurableSettings settings) {
		int batch = settings.batchSize();
		return (batch == 1) ? 1 : (int) Math.max(batch, Math.min((long) GROWTH * batch, settings.maxInFlight() / 2));
	}

	int next() {
		return this.size;
	}

	/**
	 * The number of tasks that a claim takes of those that are due later.
	 */
	int usual() {
		return this.usual;
	}

	/**
	 * Learns from a claim.
	 * @param room how many tasks the claim could take of all names together
	 * @param limits what the claim could take of each name
	 * @param claimed what the claim has taken
	 * @param nanos how long it has taken
	 */
	void claimed(int room, Map<String, Limit> limits, Claimed claimed, long nanos) {
		ClaimedCounts counts = ClaimedCounts.of(claimed.tasks());
		int total = counts.due();
		boolean backlog = total >= room || limits.entrySet()
			.stream()
			.anyMatch((limit) -> hasBacklog(limit.getValue().due(), counts.due(limit.getKey()))
					|| claimed.heldBack().contains(limit.getKey()));
		if (!backlog) {
			this.size = this.usual;
		}
		else if (nanos > SLOW_NANOS) {
			this.size = Math.max(this.usual, this.size / 2);
		}
		else if (total >= this.size && nanos <= QUICK_NANOS) {
			this.size = Math.min(2 * this.size, this.max);
		}
	}

	/**
	 * Tells whether a name has more tasks that are due. The room of the other names does
	 * not matter, since most of these names may have no tasks at all.
	 */
	private static boolean hasBacklog(int limit, int taken) {
		return limit > 0 && taken >= limit;
	}

}
