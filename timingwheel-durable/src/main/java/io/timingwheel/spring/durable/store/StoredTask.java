package io.timingwheel.spring.durable.store;

import org.jspecify.annotations.Nullable;

/**
 * A stored task as it was when it was read, without its arguments. Times are milliseconds
 * since the epoch.
 *
 * @param key {@code null} if it never had one
 * @param attempt from 1
 * @param deliveries how often it has begun
 * @param error the last error or why it is dead, {@code null} for none
 * @param schedule {@code null} for a task that runs once
 * @param diedAt {@code null} unless it is dead
 * @since 0.1
 */
public record StoredTask(String id, String name, @Nullable String key, long dueAt, State state, int attempt,
		int deliveries, @Nullable String error, @Nullable StoredSchedule schedule, @Nullable Long diedAt) {

	/** The place of this task among the pending or the dead tasks of its name. */
	public Position position() {
		return new Position((this.diedAt != null) ? this.diedAt : this.dueAt, this.id);
	}

	/**
	 * A place in the order of due times, or of deaths; ids order the tasks of the same
	 * millisecond. It stays valid when its task is gone.
	 */
	public record Position(long time, String id) {

	}

	public enum State {

		SCHEDULED,

		/** A node has the task and waits for its due time. */
		LEASED,

		/** The task has begun. */
		RUNNING,

		DEAD;

		/** Whether the task has not begun. */
		public boolean isPending() {
			return this == SCHEDULED || this == LEASED;
		}

	}

	/**
	 * The schedule of a recurring task.
	 *
	 * @param scheduledAt the time of the run by the schedule, in milliseconds since the
	 * epoch; later than the due time of the task if the run is an additional one, or if
	 * the task has got another schedule while it was running or overdue
	 */
	public record StoredSchedule(String text, long scheduledAt) {

	}

}
