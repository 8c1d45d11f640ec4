package io.timingwheel.spring.durable.store;

/**
 * The result of storing a task.
 *
 * @param outcome whether the task was stored
 * @param id the id of the stored task or, if the task was not stored, the id of the
 * pending one; an empty text if a schedule that was not lost has no task
 * @param dueAt when the task with this id is due, in milliseconds since the epoch
 * @param now the time by the store's clock, in milliseconds since the epoch; the earliest
 * if the store has several clocks
 * @since 0.1
 */
public record Enqueued(Outcome outcome, String id, long dueAt, long now) {

	/**
	 * Whether a task was stored.
	 *
	 * @since 0.1
	 */
	public enum Outcome {

		/** The task was stored. */
		INSERTED,

		/** The task was stored in place of the pending one with its key. */
		REPLACED,

		/** The task was not stored, since another with its key is pending. */
		PENDING

	}

}
