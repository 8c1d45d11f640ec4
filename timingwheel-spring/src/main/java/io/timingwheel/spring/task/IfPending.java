package io.timingwheel.spring.task;

/**
 * What to do when a task is scheduled under a {@link TaskId} that is pending. A task that
 * has begun is no longer pending.
 *
 * @since 0.1
 */
public enum IfPending {

	/**
	 * The new task replaces the pending one, with its arguments and its deadline, in one
	 * atomic step. For heartbeats and debouncing.
	 */
	REPLACE,

	/**
	 * The new task replaces the pending one, with its arguments, but is due when the
	 * pending one was, in one atomic step. For work that is collected until a fixed time.
	 */
	UPDATE,

	/** The pending task stays as it is, and the caller gets the future of that task. */
	KEEP,

	/**
	 * The caller gets a {@link DuplicateTaskException}, and the pending task stays as it
	 * is.
	 */
	REJECT

}
