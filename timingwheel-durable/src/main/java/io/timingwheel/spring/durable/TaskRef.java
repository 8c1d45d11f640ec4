package io.timingwheel.spring.durable;

/**
 * A task under the lease of a node.
 *
 * @param id its id
 * @param fence its fence, as the store gave it to the node
 * @since 0.1
 */
public record TaskRef(String id, long fence) {

}
