package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * A stored task as it was when it was read.
 *
 * @param id its id
 * @param name its name
 * @param key its key, {@code null} if it never had one
 * @param dueAt when it is or was due, in milliseconds since the epoch
 * @param state its state
 * @param attempt which attempt this is, from 1
 * @param deliveries how often it has begun
 * @param error the last error or why it is dead, {@code null} for none
 * @since 0.1
 */
public record StoredTask(String id, String name, @Nullable String key, long dueAt, State state, int attempt,
		int deliveries, @Nullable String error) {

	/**
	 * The state of a stored task.
	 *
	 * @since 0.1
	 */
	public enum State {

		/** The task is scheduled or leased: it has not begun. */
		PENDING,

		/** The task has begun. */
		RUNNING,

		/** The task was given up. */
		DEAD

	}

}
