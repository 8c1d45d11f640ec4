package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeaseOffer;
import org.jspecify.annotations.Nullable;

/**
 * Arithmetic that ends at {@link DelayedTaskStore#MAX_TIME}.
 */
final class Times {

	private Times() {
	}

	/**
	 * A duration in milliseconds which can be added to any time.
	 */
	static long millis(Duration duration) {
		return Math.min(Math.max(0, TimeUnit.MILLISECONDS.convert(duration)), DelayedTaskStore.MAX_TIME);
	}

	static long plus(long time, long millis) {
		return Math.min(time + millis, DelayedTaskStore.MAX_TIME);
	}

	/**
	 * When the lease of a task ends.
	 */
	static long leaseEnd(long dueAt, long now, Duration lease) {
		return plus(Math.max(dueAt, now), millis(lease));
	}

	/**
	 * Whether a task is leased as it is stored or moved.
	 */
	static boolean accepted(@Nullable LeaseOffer offer, long dueAt, long now) {
		return offer != null && dueAt <= plus(now, millis(offer.lookAhead()));
	}

}
