package io.timingwheel.spring.durable;

/**
 * What a node reports about itself.
 *
 * @param nodeId the node, as in its claims
 * @param claiming whether the node claims tasks
 * @param inFlight how many tasks the node has claimed and not settled
 * @since 0.1
 */
public record NodeState(String nodeId, boolean claiming, int inFlight) {

}
