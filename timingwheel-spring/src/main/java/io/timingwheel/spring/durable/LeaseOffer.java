package io.timingwheel.spring.durable;

import java.time.Duration;

/**
 * A node that stores a task, or moves it, takes it at once if it is due soon: short
 * delays need no poll.
 *
 * @param owner the node
 * @param lookAhead it is due soon if it is due within this time
 * @param lease how long the lease lasts from the time that it is due, or from now if that
 * is past
 */
public record LeaseOffer(String owner, Duration lookAhead, Duration lease) {

}
