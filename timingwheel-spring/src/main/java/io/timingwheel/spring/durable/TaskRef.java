package io.timingwheel.spring.durable;

/**
 * A task in the hands of a node.
 *
 * @param id its id
 * @param fence its fence, as the node was given it
 */
public record TaskRef(String id, long fence) {

}
