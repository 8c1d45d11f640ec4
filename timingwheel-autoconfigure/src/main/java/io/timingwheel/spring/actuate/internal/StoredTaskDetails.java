package io.timingwheel.spring.actuate.internal;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A stored task as it was when it was read, without its arguments.
 *
 * @param id its id
 * @param name its name
 * @param key its key, {@code null} if it never had one
 * @param dueAt when it is or was due
 * @param state its state
 * @param attempt which attempt this is, from 1
 * @param deliveries how often it has begun
 * @param error the last error or why it is dead, {@code null} for none
 * @param schedule its schedule, {@code null} for a task that runs once
 * @param diedAt when it died, {@code null} unless it is dead
 * @param unknown whether this node has no handler for it
 * @since 0.1
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

	/** The state of a stored task. */
	public enum State {

		/** The task has not begun. */
		PENDING,

		/** The task has begun. */
		RUNNING,

		/** The task was given up. */
		DEAD

	}

}
