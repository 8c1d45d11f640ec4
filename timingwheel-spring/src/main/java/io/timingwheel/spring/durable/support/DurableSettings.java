package io.timingwheel.spring.durable.support;

import java.time.Duration;

/**
 * How a node deals with durable tasks.
 *
 * @param nodeId the node, as it signs its leases; at most 64 characters
 * @param lease how long a task that has begun is left to a node that says nothing more
 * @param lookAhead how long before they are due tasks are claimed
 * @param pollInterval how often to look for tasks when nothing is known to be due
 * @param batchSize how many tasks at most in one request
 * @param maxInFlight how many tasks a node holds at most, waiting and running
 * @param maxAttempts after how many failures a task is dead
 * @param maxLostDeliveries after how many deliveries that were lost with their node a
 * task is dead
 * @param backoff how long a failed task waits for the next attempt
 * @param maxPayloadBytes how many bytes of UTF-8 a payload may have
 */
public record DurableSettings(String nodeId, Duration lease, Duration lookAhead, Duration pollInterval, int batchSize,
		int maxInFlight, int maxAttempts, int maxLostDeliveries, Backoff backoff, long maxPayloadBytes) {

}
