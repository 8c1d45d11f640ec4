package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.Set;

/**
 * Asks for tasks.
 *
 * @param owner the node
 * @param names the names that it has handlers for; other tasks stay as they are
 * @param limit how many tasks at most, at least 1
 * @param lookAhead tasks that are due within this time are given too
 * @param lease how long the lease lasts from the time that a task is due, or from now if
 * that is past
 * @param maxPayloadBytes payloads with more bytes of UTF-8 are not read
 */
public record ClaimRequest(String owner, Set<String> names, int limit, Duration lookAhead, Duration lease,
		long maxPayloadBytes) {

}
