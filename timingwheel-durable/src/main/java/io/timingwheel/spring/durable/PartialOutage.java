package io.timingwheel.spring.durable;

import java.util.Set;

/**
 * A state of a store in which one part does not answer, while the rest does.
 *
 * @param parts the names of the missing parts, as an operator knows them
 * @param cause the error of a missing part
 * @since 0.1
 */
public record PartialOutage(Set<String> parts, Throwable cause) {

}
