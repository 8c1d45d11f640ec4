package io.timingwheel.spring.actuate.internal;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A stored task as it was when it was read, without its arguments. The attempt counts
 * from 1, the deliveries are how often the task has begun, and an unknown task has no
 * handler on this node.
 */
public record StoredTaskDetails(String id, String name, @Nullable String key, Instant dueAt, State state, int attempt,
		int deliveries, @Nullable String error, @Nullable Times schedule, @Nullable Instant diedAt, boolean unknown) {

	/**
	 * The schedule of a stored task, and the time of its run by the schedule. This is
	 * later than the due time of the task if the run is an additional one, or if the task
	 * has got another schedule while it was running or overdue.
	 */
	public record Times(String text, Instant scheduledAt) {

	}

	public enum State {

		PENDING, RUNNING, DEAD

	}

}
