package io.timingwheel.spring.durable;

import java.util.List;
import java.util.Set;

/**
 * The result of a claim.
 *
 * @param tasks the claimed tasks, in the order of the times by which the claim found them
 * @param now the time by the store's clock, in milliseconds since the epoch
 * @param nextAt the earliest time (due time or end of lease) of a stored task with one of
 * these names, as far as the store knows, in milliseconds since the epoch;
 * {@link Long#MAX_VALUE} for none. Tasks beyond a limit do not count, nor do the times
 * for which limited names wait. The time is in the past if the claim has found a suspect.
 * After a claim with tasks, a store may leave out the ends of leases within the
 * look-ahead, and times later than {@link #MAX_PAUSE_MILLIS} after its search. After a
 * claim without tasks, a store may leave out times that are later than the look-ahead and
 * {@link ClaimRequest#maxPause} together
 * @param startAt the earliest time at which a task of a limited name may start that this
 * claim has not started, as far as the store knows, in milliseconds since the epoch;
 * {@link Long#MAX_VALUE} for none. A store may leave out times that are later than
 * {@link ClaimRequest#maxPause}, or after a claim with tasks {@link #MAX_PAUSE_MILLIS},
 * after its search
 * @param heldBack the limited names that have tasks that are due and wait until others of
 * the name end
 * @since 0.1
 */
public record Claimed(List<LeasedTask> tasks, long now, long nextAt, long startAt, Set<String> heldBack) {

	/**
	 * After a claim with tasks and without a suspect, a node that has room claims again
	 * within this time, in milliseconds. So the node does not need the times of later
	 * tasks.
	 */
	public static final long MAX_PAUSE_MILLIS = 100;

	/**
	 * Creates the result of a claim without limited names.
	 * @param tasks the claimed tasks
	 * @param now the time by the store's clock, in milliseconds since the epoch
	 * @param nextAt the earliest time of a stored task with one of these names, in
	 * milliseconds since the epoch
	 */
	public Claimed(List<LeasedTask> tasks, long now, long nextAt) {
		this(tasks, now, nextAt, Long.MAX_VALUE, Set.of());
	}

}
