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
 * @param schedule its schedule, {@code null} for a task that runs once
 * @param diedAt when it died, in milliseconds since the epoch; {@code null} unless it is
 * dead
 * @since 0.1
 */
public record StoredTask(String id, String name, @Nullable String key, long dueAt, State state, int attempt,
		int deliveries, @Nullable String error, @Nullable StoredSchedule schedule, @Nullable Long diedAt) {

	/**
	 * Creates a task that runs once and is not dead.
	 * @param id its id
	 * @param name its name
	 * @param key its key, {@code null} if it never had one
	 * @param dueAt when it is or was due, in milliseconds since the epoch
	 * @param state its state
	 * @param attempt which attempt this is, from 1
	 * @param deliveries how often it has begun
	 * @param error the last error or why it is dead, {@code null} for none
	 */
	public StoredTask(String id, String name, @Nullable String key, long dueAt, State state, int attempt,
			int deliveries, @Nullable String error) {
		this(id, name, key, dueAt, state, attempt, deliveries, error, null, null);
	}

	/**
	 * The place of this task, while it is pending, among the pending tasks of its name.
	 * @return its position
	 */
	public Position position() {
		return new Position(this.dueAt, this.id);
	}

	/**
	 * A place in the order in which tasks are due. The ids order the tasks that are due
	 * in the same millisecond. A position stays valid when its task is gone.
	 *
	 * @param dueAt when the task is due, in milliseconds since the epoch
	 * @param id the id of the task
	 * @since 0.1
	 */
	public record Position(long dueAt, String id) {

	}

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
