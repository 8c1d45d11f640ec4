package io.timingwheel.spring.durable.support;

import java.time.Duration;

import io.timingwheel.spring.task.internal.Backoff;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a node for durable tasks. The values are not checked here.
 *
 * @param nodeId the name of the node in its leases; at most 64 characters
 * @param lease how long a lease lasts, unless the node renews it
 * @param lookAhead how long before its due time a task may be claimed
 * @param pollInterval how long the node sleeps at most between two claims
 * @param batchSize how many tasks a claim takes at most without a backlog; requests grow
 * with a backlog, unless this is 1
 * @param maxInFlight how many tasks the node holds at most, waiting and running
 * @param maxAttempts a task is dead after this many failures
 * @param maxLostDeliveries a task is dead if its node has ended during this many
 * deliveries
 * @param backoff how long a failed task waits for the next attempt
 * @param maxPayloadBytes the largest payload, in bytes of UTF-8
 * @param deadRetention how long the store keeps a dead task, {@code null} for ever
 * @since 0.1
 */
public record DurableSettings(String nodeId, Duration lease, Duration lookAhead, Duration pollInterval, int batchSize,
		int maxInFlight, int maxAttempts, int maxLostDeliveries, Backoff backoff, long maxPayloadBytes,
		@Nullable Duration deadRetention) {

}
