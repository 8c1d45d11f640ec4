package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * A task as the node that has leased it sees it.
 *
 * @param id its id
 * @param fence its fence
 * @param name its name
 * @param key its key, {@code null} for none
 * @param payload what the handler is to be given, {@code null} if it is larger than was
 * asked for
 * @param dueAt when it is due, in milliseconds since the epoch
 * @param begun whether it has begun with the claim
 * @param attempt which attempt this is, from 1
 * @param deliveries how often it has begun, this one included if it has begun
 * @param lostDeliveries how many of these were lost with their node
 */
public record LeasedTask(String id, long fence, String name, @Nullable String key, @Nullable String payload, long dueAt,
		boolean begun, int attempt, int deliveries, int lostDeliveries) {

	/**
	 * Names this task under this lease.
	 * @return id and fence
	 */
	public TaskRef ref() {
		return new TaskRef(this.id, this.fence);
	}

}
