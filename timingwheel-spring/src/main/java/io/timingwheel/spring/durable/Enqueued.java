package io.timingwheel.spring.durable;

/**
 * What has become of a task that was to be stored.
 *
 * @param outcome whether it was stored
 * @param id its id or, if it was not stored, that of the task that is pending
 * @param fence its fence
 * @param dueAt when the task with this id is due, in milliseconds since the epoch
 * @param now the time by the engine's clock, the earliest if it has several
 * @param leased whether the caller has leased it and is to put it on its wheel
 */
public record Enqueued(Outcome outcome, String id, long fence, long dueAt, long now, boolean leased) {

	/**
	 * Whether a task was stored.
	 */
	public enum Outcome {

		/** It was stored. */
		INSERTED,

		/** It was stored in place of the one that was pending. */
		REPLACED,

		/** It was not stored, as another is pending. */
		PENDING

	}

}
