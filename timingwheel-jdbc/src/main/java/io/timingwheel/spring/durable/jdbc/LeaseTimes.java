package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeaseOffer;
import org.jspecify.annotations.Nullable;

/**
 * Arithmetic with due times and leases, in milliseconds. No result is beyond
 * {@link DelayedTaskStore#MAX_TIME}.
 */
final class LeaseTimes {

	/**
	 * How long a claim may take without effect on the next one, in milliseconds. A node
	 * sleeps from the end of a claim, while the claim knows the times from its beginning.
	 */
	static final long CLAIM_MILLIS = 100;

	private LeaseTimes() {
	}

	/**
	 * A duration that can be added to any time without an overflow.
	 */
	static long millis(Duration duration) {
		return Math.min(Math.max(0, TimeUnit.MILLISECONDS.convert(duration)), DelayedTaskStore.MAX_TIME);
	}

	/**
	 * How far ahead a claim without tasks looks for the time of the next task: until the
	 * node claims again.
	 * @param lookAhead the time within which a task may be leased before it is due
	 */
	static long horizon(Duration lookAhead, ClaimRequest request) {
		return Math.min(millis(lookAhead) + millis(request.maxPause()) + CLAIM_MILLIS, DelayedTaskStore.MAX_TIME);
	}

	static long plus(long time, Duration duration) {
		return Math.min(time + millis(duration), DelayedTaskStore.MAX_TIME);
	}

	/**
	 * The end of a lease that a node takes now.
	 */
	static long leaseEnd(long dueAt, long now, Duration lease) {
		return plus(Math.max(dueAt, now), lease);
	}

	/**
	 * The offer if the task is due soon and is therefore leased at once, else
	 * {@code null}.
	 */
	static @Nullable LeaseOffer accepted(@Nullable LeaseOffer offer, long dueAt, long now) {
		return (offer != null && dueAt <= plus(now, offer.lookAhead())) ? offer : null;
	}

	/**
	 * The column {@code next_at} of a pending task: the end of its lease if it has one,
	 * else its due time.
	 */
	static long nextAt(long dueAt, long now, @Nullable LeaseOffer accepted) {
		return (accepted != null) ? leaseEnd(dueAt, now, accepted.lease()) : dueAt;
	}

	/**
	 * The column {@code owner} of a pending task.
	 */
	static @Nullable String owner(@Nullable LeaseOffer accepted) {
		return (accepted != null) ? accepted.owner() : null;
	}

}
