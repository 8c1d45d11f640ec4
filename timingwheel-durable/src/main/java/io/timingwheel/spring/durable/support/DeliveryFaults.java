package io.timingwheel.spring.durable.support;

/**
 * What a test wants to go wrong with the runs of durable tasks. Only virtual time has
 * such faults. Thread-safe.
 *
 * @since 0.1
 */
public interface DeliveryFaults {

	/**
	 * Tells whether each task is delivered twice. The store does not learn of the end of
	 * the first delivery.
	 * @return whether the body runs a second time
	 */
	boolean deliversTwice();

	/**
	 * Tells whether the node crashes after a body has ended, so that the store does not
	 * learn of the end. Called once for each run.
	 * @param name the name of the task
	 * @return whether the end of this run gets lost
	 */
	boolean crashesAfter(String name);

	/**
	 * Records that a run has failed.
	 * @param name the name of the task
	 * @param error what the body has thrown, or why it could not run
	 */
	void failed(String name, Throwable error);

}
