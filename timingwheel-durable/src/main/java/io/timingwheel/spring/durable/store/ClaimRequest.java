package io.timingwheel.spring.durable.store;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The request of a node for tasks.
 *
 * @param owner the node
 * @param names what the node wants of each name that it has a handler for; tasks of other
 * names stay as they are. With none, the claim reads only the time and the paused names
 * @param limit the largest number of tasks of all names together
 * @param suspect whether the claim takes, if there is one, the earliest due task of these
 * names that has lost a delivery, whatever its share, and no other task
 * @param lookAhead the claim includes tasks that are due within this time
 * @param lease how long a lease lasts from the due time, or from now if that has passed
 * @param maxPayloadBytes the store does not read payloads with more bytes of UTF-8
 * @since 0.1
 */
public record ClaimRequest(String owner, Map<String, Share> names, int limit, boolean suspect, Duration lookAhead,
		Duration lease, long maxPayloadBytes) {

	/**
	 * What a node wants of a name.
	 *
	 * @param due the largest number of tasks that are due already and begin with the
	 * claim
	 * @param soon the largest number of tasks that are due within the look-ahead
	 * @param limits the limits of the name over all nodes, {@code null} for none
	 * @param expireAfter a task of a limited name that is late by more than this time is
	 * leased, does not begin, and counts for no limit. The node ends it without a run.
	 * {@code null} if tasks never expire
	 */
	public record Share(int due, int soon, @Nullable StartLimits limits, @Nullable Duration expireAfter) {

		/** What a node wants of a name without limits. */
		public Share(int due, int soon) {
			this(due, soon, null, null);
		}

	}

	/**
	 * The result of a claim. Times are milliseconds since the epoch by the store's clock,
	 * and {@link Long#MAX_VALUE} for none.
	 *
	 * @param tasks the claimed tasks, the earliest first
	 * @param now the time at any moment of the claim; the earliest if the store has
	 * several clocks
	 * @param nextAt the earliest due time or end of a lease, later than now, of a task of
	 * these names that the claim has not taken, as far as the store knows. Tasks of
	 * limited names do not count
	 * @param startAt the earliest time at which a task of a limited name may start that
	 * this claim has not started: it is due then, or its rate allows it then
	 * @param more whether the node may take further tasks with more room, or once tasks
	 * of their name end: a name has given as many tasks as the node wanted, all names
	 * together have reached the limit, or due tasks of a limited name wait for others
	 * @param newSuspects whether the claim has found tasks whose delivery was lost
	 * @param pausedNames the names that are paused in the store
	 */
	public record Claimed(List<LeasedTask> tasks, long now, long nextAt, long startAt, boolean more,
			boolean newSuspects, Set<String> pausedNames) {

		/**
		 * Whether the claim has taken a task that has lost a delivery, and thus no other.
		 */
		public boolean hasSuspect() {
			return this.tasks.stream().anyMatch(LeasedTask::suspect);
		}

	}

}
