package io.timingwheel.spring.task;

/**
 * What to do when a task is scheduled under a {@link TaskId} that is pending. A task that
 * has begun is no longer pending.
 */
public enum IfPending {

	/**
	 * The newest wins: the pending task is called off, and one with the new arguments and
	 * the new deadline takes its place, atomically. Heartbeats and debouncing.
	 */
	REPLACE,

	/**
	 * The first stays as it is, and its result is returned.
	 */
	KEEP,

	/**
	 * A {@link DuplicateTaskException} is thrown and the first stays as it is.
	 */
	REJECT

}
