package io.timingwheel.spring.durable;

/**
 * The result of storing a task.
 *
 * @param outcome whether the task was stored
 * @param id the id of the stored task or, if the task was not stored, the id of the
 * pending one
 * @param fence the fence of the task with this id
 * @param dueAt when the task with this id is due, in milliseconds since the epoch
 * @param now the time by the store's clock, in milliseconds since the epoch; the earliest
 * if the store has several clocks
 * @param leased whether the caller has leased the task, and puts it on its wheel
 * @since 0.1
 */
public record Enqueued(Outcome outcome, String id, long fence, long dueAt, long now, boolean leased) {

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
