package io.timingwheel.spring.durable;

import java.time.Duration;

/**
 * The offer of a node to lease a task with the request that stores or moves the task. The
 * store leases the task if the task is due soon, so that short delays need no poll.
 *
 * @param owner the node
 * @param lookAhead a task is due soon if it is due within this time
 * @param lease how long the lease lasts from the due time of the task, or from now if the
 * due time has passed
 * @since 0.1
 */
public record LeaseOffer(String owner, Duration lookAhead, Duration lease) {

}
