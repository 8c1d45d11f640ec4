package io.timingwheel.spring.durable.node;

import java.time.Duration;

import io.timingwheel.spring.task.internal.Backoff;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a node. The values are not checked here.
 *
 * @param nodeId the name of the node in its leases; at most 64 characters
 * @param lease how long a lease lasts, unless the node renews it
 * @param lookAhead how long before its due time a task may be claimed
 * @param pollInterval how long the node waits at most between two claims
 * @param batchSize how many tasks of a name that are due later a claim takes at most
 * @param maxInFlight how many tasks the node holds at most, waiting and running
 * @param maxAttempts a task is dead after this many failures
 * @param maxLostDeliveries a task is dead after this many lost deliveries
 * @param backoff how long a failed task waits for the next attempt
 * @param maxPayloadBytes the largest payload, in bytes of UTF-8
 * @param deadRetention how long the store keeps a dead task, {@code null} for ever
 * @since 0.1
 */
public record NodeSettings(String nodeId, Duration lease, Duration lookAhead, Duration pollInterval, int batchSize,
		int maxInFlight, int maxAttempts, int maxLostDeliveries, Backoff backoff, long maxPayloadBytes,
		@Nullable Duration deadRetention) {

	/** Larger requests would lock their tasks for too long. */
	private static final int MAX_BATCHES = 8;

	/**
	 * How many tasks one request to the store takes at most. Half of the node's room is
	 * left for the next request. With a batch size of 1, each request takes one task.
	 */
	int maxRequest() {
		if (this.batchSize == 1) {
			return 1;
		}
		return Math.max(1, Math.min(MAX_BATCHES * this.batchSize, this.maxInFlight / 2));
	}

}
