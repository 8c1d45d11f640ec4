package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * A leased task, as the store gives it to the node that has leased it.
 *
 * @param id its id
 * @param fence its fence
 * @param name its name
 * @param key its key, {@code null} for none
 * @param payload the arguments for its handler, {@code null} if they are larger than the
 * request allowed
 * @param traceparent the trace of the call that stored it, {@code null} for none
 * @param dueAt when it is due, in milliseconds since the epoch
 * @param begun whether the task began with the claim; a suspect never does
 * @param attempt which attempt this is, from 1
 * @param deliveries how often it has begun, this time included if {@code begun}
 * @param lostDeliveries how many of the deliveries of a suspect ended with their node
 * @param suspect whether a delivery was lost since the task was last known not to end its
 * node. A node has one such task at a time
 * @param schedule its schedule, {@code null} for a task that runs once
 * @since 0.1
 */
public record LeasedTask(String id, long fence, String name, @Nullable String key, @Nullable String payload,
		@Nullable String traceparent, long dueAt, boolean begun, int attempt, int deliveries, int lostDeliveries,
		boolean suspect, @Nullable StoredSchedule schedule) {

	/**
	 * Creates a task that runs once.
	 * @param id its id
	 * @param fence its fence
	 * @param name its name
	 * @param key its key, {@code null} for none
	 * @param payload the arguments for its handler, {@code null} if they are too large
	 * @param traceparent the trace of the call that stored it, {@code null} for none
	 * @param dueAt when it is due, in milliseconds since the epoch
	 * @param begun whether the task began with the claim
	 * @param attempt which attempt this is, from 1
	 * @param deliveries how often it has begun
	 * @param lostDeliveries how many of the deliveries ended with their node
	 * @param suspect whether a delivery was lost
	 */
	public LeasedTask(String id, long fence, String name, @Nullable String key, @Nullable String payload,
			@Nullable String traceparent, long dueAt, boolean begun, int attempt, int deliveries, int lostDeliveries,
			boolean suspect) {
		this(id, fence, name, key, payload, traceparent, dueAt, begun, attempt, deliveries, lostDeliveries, suspect,
				null);
	}

	/**
	 * The reference to this task under this lease.
	 * @return its id and fence
	 */
	public TaskRef ref() {
		return new TaskRef(this.id, this.fence);
	}

}
