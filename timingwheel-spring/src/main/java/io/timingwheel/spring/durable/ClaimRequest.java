package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.Set;

/**
 * The request of a node for tasks.
 *
 * @param owner the node
 * @param names the names that the node has handlers for; other tasks stay as they are
 * @param limit the largest number of tasks, at least 1
 * @param lookAhead the claim includes tasks that are due within this time
 * @param lease how long the lease of a task lasts from its due time, or from now if the
 * due time has passed
 * @param maxPayloadBytes the store does not read payloads with more bytes of UTF-8
 * @since 0.1
 */
public record ClaimRequest(String owner, Set<String> names, int limit, Duration lookAhead, Duration lease,
		long maxPayloadBytes) {

}
