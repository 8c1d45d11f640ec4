package io.timingwheel.spring.durable.store;

import java.time.Duration;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The request of a node for tasks.
 *
 * @param owner the node
 * @param names what the node wants of each name that it has a handler for; tasks of other
 * names stay as they are. None if the node has no room: the claim then reads only the
 * time and the paused names
 * @param limit the largest number of tasks of all names together
 * @param suspect whether the node wants a task that has lost a delivery. If such a task
 * is due, the claim takes the earliest one of these names, whatever the share of its
 * name, and no other task. If there is none, the claim takes other tasks
 * @param lookAhead the claim includes tasks that are due within this time
 * @param lease how long the lease of a task lasts from its due time, or from now if the
 * due time has passed
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
	 * @param expireAfter the tasks of a limited name are not started if they are late by
	 * more than this time. The claim leases such a task without counting it for a limit,
	 * and the task has not begun. The node ends it without a run. {@code null} if tasks
	 * never expire
	 * @since 0.1
	 */
	public record Share(int due, int soon, @Nullable StartLimits limits, @Nullable Duration expireAfter) {

		/**
		 * What a node wants of a name without limits.
		 * @param due the largest number of tasks that are due already
		 * @param soon the largest number of tasks that are due within the look-ahead
		 */
		public Share(int due, int soon) {
			this(due, soon, null, null);
		}

	}

}
