package io.timingwheel.spring.task.support;

/**
 * How a task, or one attempt at it, ended.
 *
 * @since 0.1
 */
public enum TaskOutcome {

	/** With a result. */
	COMPLETED,

	/** With an exception. */
	FAILED,

	/** It was called off, by a user, a rollback or the shutdown. */
	CANCELLED,

	/** It was too late to be started. */
	EXPIRED,

	/** A newer one with its key replaced it before it began. */
	REPLACED,

	/** It was not tried again, as a newer one with its key was pending. */
	SUPERSEDED

}
