package io.timingwheel.spring.durable.store;

import io.timingwheel.spring.durable.store.StoredTask.StoredSchedule;
import org.jspecify.annotations.Nullable;

/**
 * A leased or running task, as the store gives it to the node that has claimed it.
 *
 * @param key {@code null} for none
 * @param payload {@code null} if it is larger than the request allowed
 * @param traceparent the trace of the call that stored it, {@code null} for none
 * @param dueAt in milliseconds since the epoch
 * @param begun whether the task began with the claim; a suspect never does
 * @param attempt from 1
 * @param deliveries how often it has begun, this time included if {@code begun}
 * @param lost how many deliveries were lost since the task was last known not to end its
 * node
 * @param schedule {@code null} for a task that runs once
 * @since 0.1
 */
public record LeasedTask(String id, long fence, String name, @Nullable String key, @Nullable String payload,
		@Nullable String traceparent, long dueAt, boolean begun, int attempt, int deliveries, int lost,
		@Nullable StoredSchedule schedule) {

	public TaskRef ref() {
		return new TaskRef(this.id, this.fence);
	}

	/**
	 * Whether a delivery was lost, so that the task may end its node. A node has one such
	 * task at a time.
	 */
	public boolean suspect() {
		return this.lost > 0;
	}

	/**
	 * A task under the lease of a node.
	 *
	 * @param fence as the store gave it to the node
	 */
	public record TaskRef(String id, long fence) {

	}

}
