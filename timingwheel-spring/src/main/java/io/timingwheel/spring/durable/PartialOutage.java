package io.timingwheel.spring.durable;

import java.util.Set;

/**
 * A part of a store cannot be reached, while the rest can.
 *
 * @param parts what cannot be reached, as an operator knows it
 * @param cause what was met there
 */
public record PartialOutage(Set<String> parts, Throwable cause) {

}
