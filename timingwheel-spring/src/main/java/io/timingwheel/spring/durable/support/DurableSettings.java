package io.timingwheel.spring.durable.support;

import java.time.Duration;

/**
 * The settings of a node for durable tasks. The values are not checked here.
 *
 * @param nodeId the name of the node in its leases; at most 64 characters
 * @param lease how long a lease lasts, unless the node renews it
 * @param lookAhead how long before its due time a task may be claimed
 * @param pollInterval how long the node sleeps at most between two claims
 * @param batchSize how many tasks a claim or a begin has at most
 * @param maxInFlight how many tasks the node holds at most, waiting and running
 * @param maxAttempts after how many failures a task is dead
 * @param maxLostDeliveries after how many deliveries that ended with their node a task is
 * dead
 * @param backoff how long a failed task waits for the next attempt
 * @param maxPayloadBytes how many bytes of UTF-8 a payload may have
 * @since 0.1
 */
public record DurableSettings(String nodeId, Duration lease, Duration lookAhead, Duration pollInterval, int batchSize,
		int maxInFlight, int maxAttempts, int maxLostDeliveries, Backoff backoff, long maxPayloadBytes) {

}
