package io.timingwheel.spring.task;

/**
 * What becomes of the times of a {@link Schedule} that have passed without a run: the run
 * before took too long, or no node was running.
 *
 * @since 0.1
 */
public enum Missed {

	/**
	 * One run at once stands for all times that have passed. Afterwards the schedule goes
	 * on as usual.
	 */
	ONCE,

	/** They are left out. The next run is at the next time of the schedule. */
	SKIP,

	/** Each of them has a run, one after another, in their order. */
	ALL

}
