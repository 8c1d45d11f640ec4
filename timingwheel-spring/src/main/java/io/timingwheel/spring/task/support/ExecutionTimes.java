package io.timingwheel.spring.task.support;

/**
 * Takes the times of the executions of a name. Called on the thread of each execution,
 * before its outcome is counted. Must be fast and must not throw.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface ExecutionTimes {

	/**
	 * Takes the times of an execution that has ended.
	 * @param latenessNanos how long after its due time the task has begun, in nanoseconds
	 * @param durationNanos how long it took, in nanoseconds; if the body has returned a
	 * future, until that future was done
	 */
	void executed(long latenessNanos, long durationNanos);

}
