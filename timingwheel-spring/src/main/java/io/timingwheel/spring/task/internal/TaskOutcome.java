package io.timingwheel.spring.task.internal;

public enum TaskOutcome {

	/** With a result. */
	COMPLETED,

	/** With an exception. */
	FAILED,

	/** A user, a rollback or the shutdown cancelled it. */
	CANCELLED,

	/** It was too late to be started. */
	EXPIRED,

	/** A newer task with its key replaced it before it began. */
	REPLACED,

	/** It was not tried again, since a newer task with its key was pending. */
	SUPERSEDED

}
