package io.timingwheel.spring.durable.node;

import java.time.Duration;

import io.timingwheel.spring.task.internal.BackoffSettings;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a node, already checked.
 *
 * @param nodeId at most 64 characters
 * @param batchSize how many tasks of a name that are due later a claim takes at most
 * @param maxInFlight how many tasks the node holds at most, waiting and running
 * @param maxPayloadBytes in bytes of UTF-8
 * @param deadRetention {@code null} for ever
 */
public record NodeSettings(String nodeId, Duration lease, Duration lookAhead, Duration pollInterval, int batchSize,
		int maxInFlight, int maxAttempts, int maxLostDeliveries, BackoffSettings backoff, long maxPayloadBytes,
		@Nullable Duration deadRetention) {

	/** Larger requests would lock their tasks for too long. */
	private static final int MAX_BATCHES = 8;

	/**
	 * How long this node trusts a lease, by its own monotonic clock: from before the
	 * request until a tenth of the lease before its end.
	 */
	long trustedNanos() {
		return this.lease.toNanos() / 10 * 9;
	}

	/** Leaves half of the node's room for the next request. */
	int maxRequest() {
		if (this.batchSize == 1) {
			return 1;
		}
		return Math.max(1, Math.min(MAX_BATCHES * this.batchSize, this.maxInFlight / 2));
	}

}
