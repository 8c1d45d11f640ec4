package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * A reading of a stored task.
 *
 * @param id its id
 * @param name its name
 * @param key its key, {@code null} if it never had one
 * @param dueAt when it is or was due, in milliseconds since the epoch
 * @param state where it stands
 * @param attempt which attempt this is, from 1
 * @param deliveries how often it has begun
 * @param error what went wrong last or why it is dead, {@code null} for nothing
 */
public record StoredTask(String id, String name, @Nullable String key, long dueAt, State state, int attempt,
		int deliveries, @Nullable String error) {

	/**
	 * Where a stored task stands.
	 */
	public enum State {

		/** It has not begun. */
		PENDING,

		/** It has begun. */
		RUNNING,

		/** It was given up. */
		DEAD

	}

}
