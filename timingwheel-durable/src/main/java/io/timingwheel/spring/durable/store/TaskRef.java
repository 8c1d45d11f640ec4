package io.timingwheel.spring.durable.store;

/**
 * A task under the lease of a node.
 *
 * @param fence as the store gave it to the node
 * @since 0.1
 */
public record TaskRef(String id, long fence) {

}
