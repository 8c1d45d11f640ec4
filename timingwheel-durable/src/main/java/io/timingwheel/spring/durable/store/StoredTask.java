package io.timingwheel.spring.durable.store;

import org.jspecify.annotations.Nullable;

/**
 * A stored task as it was when it was read, without its arguments.
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
	 * The place of this task among the pending or the dead tasks of its name.
	 * @return its position
	 */
	public Position position() {
		return new Position((this.diedAt != null) ? this.diedAt : this.dueAt, this.id);
	}

	/**
	 * A place in the order in which tasks are due, or in which they have died. The ids
	 * order the tasks of the same millisecond. A position stays valid when its task is
	 * gone.
	 *
	 * @param time when the task is due or has died, in milliseconds since the epoch
	 * @param id the id of the task
	 * @since 0.1
	 */
	public record Position(long time, String id) {

	}

	/**
	 * The state of a stored task.
	 *
	 * @since 0.1
	 */
	public enum State {

		/** The task waits for a node. */
		SCHEDULED,

		/** A node has the task and waits for its due time. */
		LEASED,

		/** The task has begun. */
		RUNNING,

		/** The task was given up. */
		DEAD;

		/**
		 * Whether the task has not begun.
		 * @return {@code true} if it is scheduled or leased
		 */
		public boolean isPending() {
			return this == SCHEDULED || this == LEASED;
		}

	}

}
