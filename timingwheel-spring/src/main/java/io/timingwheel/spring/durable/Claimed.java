package io.timingwheel.spring.durable;

import java.util.List;

/**
 * What was claimed.
 *
 * @param tasks the tasks, in the order of the times by which they were found
 * @param now the time by the engine's clock
 * @param nextAt the earliest time by which a stored task of these names is to be found
 * (due or end of lease), as far as is known; {@link Long#MAX_VALUE} for none, and of no
 * meaning if as many tasks were claimed as were asked for
 */
public record Claimed(List<LeasedTask> tasks, long now, long nextAt) {

}
