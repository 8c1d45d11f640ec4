package io.timingwheel.spring.task.support;

/**
 * Counts the tasks of one name that are kept elsewhere than in memory, together with
 * those that are. Thread-safe.
 */
public interface TaskRecorder {

	/**
	 * A body begins.
	 */
	void begun();

	/**
	 * A body that had begun has ended.
	 * @param outcome how
	 */
	void ended(TaskOutcome outcome);

	/**
	 * A body that had begun is not to be counted, as another node has the task.
	 */
	void abandoned();

	/**
	 * A task ended without having begun.
	 * @param outcome how
	 */
	void count(TaskOutcome outcome);

}
