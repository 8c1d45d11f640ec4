package io.timingwheel.spring.durable.store;

import java.util.List;
import java.util.Set;

/**
 * The result of a claim. Times are milliseconds since the epoch by the store's clock, and
 * {@link Long#MAX_VALUE} for none.
 *
 * @param tasks the claimed tasks, the earliest first
 * @param now the time; the earliest if the store has several clocks
 * @param nextAt the earliest due time or end of a lease, later than now, of a task of
 * these names that the claim has not taken, as far as the store knows. Tasks of limited
 * names do not count
 * @param startAt the earliest time at which a task of a limited name may start that this
 * claim has not started: it is due then, or its rate allows it then
 * @param more whether the node may take further tasks with more room, or once tasks of
 * their name end: a name has given as many tasks as the node wanted, all names together
 * have reached the limit, or due tasks of a limited name wait for others
 * @param newSuspects whether the claim has found tasks whose delivery was lost
 * @param pausedNames the names that are paused in the store
 * @since 0.1
 */
public record Claimed(List<LeasedTask> tasks, long now, long nextAt, long startAt, boolean more, boolean newSuspects,
		Set<String> pausedNames) {

	/** Whether the claim has taken a task that has lost a delivery, and thus no other. */
	public boolean hasSuspect() {
		return this.tasks.stream().anyMatch(LeasedTask::suspect);
	}

}
