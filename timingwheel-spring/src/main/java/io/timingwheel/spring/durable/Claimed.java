package io.timingwheel.spring.durable;

import java.util.List;

/**
 * The result of a claim.
 *
 * @param tasks the claimed tasks, in the order of the times by which the claim found them
 * @param now the time by the store's clock, in milliseconds since the epoch
 * @param nextAt the earliest time (due time or end of lease) of a stored task with one of
 * these names, as far as the store knows, in milliseconds since the epoch;
 * {@link Long#MAX_VALUE} for none. Tasks beyond a limit do not count. In the past if the
 * claim has found a suspect
 * @since 0.1
 */
public record Claimed(List<LeasedTask> tasks, long now, long nextAt) {

}
