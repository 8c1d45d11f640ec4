package io.timingwheel.spring.durable;

import java.time.Duration;

/**
 * A node as the store knows it.
 *
 * @param state what the node has reported
 * @param age how long ago the node has reported this, by the clock of the store; not
 * negative
 * @since 0.1
 */
public record ReportedNode(NodeState state, Duration age) {

}
