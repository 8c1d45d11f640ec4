package io.timingwheel.spring.durable.store;

/**
 * The result of storing a task. Times are milliseconds since the epoch by the store's
 * clock.
 *
 * @param id the id of the stored task, or of the pending one; empty if a schedule that
 * was not lost has no task
 * @param dueAt when the task with this id is due
 * @param now the time; the earliest if the store has several clocks
 * @since 0.1
 */
public record Enqueued(Outcome outcome, String id, long dueAt, long now) {

	public enum Outcome {

		INSERTED,

		/** The task was stored in place of the pending one with its key. */
		REPLACED,

		/** The task was not stored, since another with its key is pending. */
		PENDING

	}

}
