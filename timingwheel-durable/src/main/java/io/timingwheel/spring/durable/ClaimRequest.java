package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The request of a node for tasks.
 *
 * @param owner the node
 * @param names how many tasks the node wants of each name that it has a handler for;
 * tasks of other names stay as they are
 * @param limit the largest number of tasks of all names together, at least 1
 * @param suspect whether the node wants a task whose earlier delivery was lost. If such a
 * task is due, the claim takes the earliest one of these names, whatever the limit of its
 * name, and no other task
 * @param lookAhead the claim includes tasks that are due within this time
 * @param lease how long the lease of a task lasts from its due time, or from now if the
 * due time has passed
 * @param maxPayloadBytes the store does not read payloads with more bytes of UTF-8
 * @param startLimits the limits of those of these names whose starts are limited over all
 * nodes. The claim leases none of their tasks before they are due
 * @param maxPause after a claim without tasks, the node claims again within this time. So
 * the node does not need the times of tasks that it can claim only later
 * @param expireAfter those of the limited names whose tasks are not started if they are
 * late by more than this time. The claim leases such a task without counting it for a
 * limit, and the task has not begun. The node ends it without a run
 * @since 0.1
 */
public record ClaimRequest(String owner, Map<String, Limit> names, int limit, boolean suspect, Duration lookAhead,
		Duration lease, long maxPayloadBytes, Map<String, StartLimits> startLimits, Duration maxPause,
		Map<String, Duration> expireAfter) {

	/**
	 * Creates a request for tasks that never expire.
	 * @param owner the node
	 * @param names how many tasks the node wants of each name
	 * @param limit the largest number of tasks of all names together, at least 1
	 * @param suspect whether the node wants a task whose earlier delivery was lost
	 * @param lookAhead the claim includes tasks that are due within this time
	 * @param lease how long the lease of a task lasts from its due time
	 * @param maxPayloadBytes the store does not read payloads with more bytes of UTF-8
	 * @param startLimits the limits of those of these names whose starts are limited
	 * @param maxPause after a claim without tasks, the node claims again within this time
	 */
	public ClaimRequest(String owner, Map<String, Limit> names, int limit, boolean suspect, Duration lookAhead,
			Duration lease, long maxPayloadBytes, Map<String, StartLimits> startLimits, Duration maxPause) {
		this(owner, names, limit, suspect, lookAhead, lease, maxPayloadBytes, startLimits, maxPause, Map.of());
	}

	/**
	 * Creates a request of a node that waits for the next task, however long that takes.
	 * @param owner the node
	 * @param names how many tasks the node wants of each name
	 * @param limit the largest number of tasks of all names together, at least 1
	 * @param suspect whether the node wants a task whose earlier delivery was lost
	 * @param lookAhead the claim includes tasks that are due within this time
	 * @param lease how long the lease of a task lasts from its due time
	 * @param maxPayloadBytes the store does not read payloads with more bytes of UTF-8
	 * @param startLimits the limits of those of these names whose starts are limited
	 */
	public ClaimRequest(String owner, Map<String, Limit> names, int limit, boolean suspect, Duration lookAhead,
			Duration lease, long maxPayloadBytes, Map<String, StartLimits> startLimits) {
		this(owner, names, limit, suspect, lookAhead, lease, maxPayloadBytes, startLimits,
				Duration.ofMillis(DelayedTaskStore.MAX_TIME));
	}

	/**
	 * Creates a request in which the starts of no name are limited.
	 * @param owner the node
	 * @param names how many tasks the node wants of each name
	 * @param limit the largest number of tasks of all names together, at least 1
	 * @param suspect whether the node wants a task whose earlier delivery was lost
	 * @param lookAhead the claim includes tasks that are due within this time
	 * @param lease how long the lease of a task lasts from its due time
	 * @param maxPayloadBytes the store does not read payloads with more bytes of UTF-8
	 */
	public ClaimRequest(String owner, Map<String, Limit> names, int limit, boolean suspect, Duration lookAhead,
			Duration lease, long maxPayloadBytes) {
		this(owner, names, limit, suspect, lookAhead, lease, maxPayloadBytes, Map.of());
	}

	/**
	 * Creates a request that has no limits by name, and takes a task whose earlier
	 * delivery was lost if there is one.
	 * @param owner the node
	 * @param names the names that the node has handlers for
	 * @param limit the largest number of tasks, at least 1
	 * @param lookAhead the claim includes tasks that are due within this time
	 * @param lease how long the lease of a task lasts from its due time
	 * @param maxPayloadBytes the store does not read payloads with more bytes of UTF-8
	 */
	public ClaimRequest(String owner, Set<String> names, int limit, Duration lookAhead, Duration lease,
			long maxPayloadBytes) {
		this(owner, names.stream().collect(Collectors.toMap(Function.identity(), (name) -> new Limit(limit, limit))),
				limit, true, lookAhead, lease, maxPayloadBytes);
	}

	/**
	 * This request for the names whose starts are not limited.
	 * @param limit the largest number of tasks
	 * @return the request
	 */
	public ClaimRequest withoutStartLimits(int limit) {
		Map<String, Limit> others = new HashMap<>(this.names);
		others.keySet().removeAll(this.startLimits.keySet());
		return new ClaimRequest(this.owner, others, limit, this.suspect, this.lookAhead, this.lease,
				this.maxPayloadBytes, Map.of(), this.maxPause, Map.of());
	}

	/**
	 * How many tasks of a name a claim takes at most.
	 *
	 * @param due the limit for the tasks that are due already and begin with the claim
	 * @param soon the limit for the tasks that are due within the look-ahead
	 * @since 0.1
	 */
	public record Limit(int due, int soon) {

		/**
		 * Both limits together.
		 * @return the sum
		 */
		public int total() {
			return this.due + this.soon;
		}

	}

}
