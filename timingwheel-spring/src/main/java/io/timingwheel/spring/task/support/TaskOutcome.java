package io.timingwheel.spring.task.support;

/**
 * How a task, or one attempt at it, ended.
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

	/** A newer one with its key took its place before it began. */
	REPLACED,

	/** A newer one with its key was pending when it was to be tried again. */
	SUPERSEDED

}
