package io.timingwheel.spring.durable.support;

import java.time.Duration;

/**
 * Calls the rounds of one part of a node, one after another, until it is told to stop. An
 * exception in a round does not end the loop. Thread-safe.
 */
interface StoreLoop {

	void start();

	/**
	 * Ends the round with a wait, until somebody wakes the loop or until a time has
	 * passed. The next round follows at once if somebody has woken the loop since its
	 * last wait. Only rounds call this, as their last action.
	 */
	void await(long nanos);

	/**
	 * Ends the round with a wait that nobody can end, except by {@link #stop()}. Only
	 * rounds call this, as their last action.
	 */
	void sleep(long nanos);

	void wake();

	boolean isStopped();

	/**
	 * Makes the loop end after its current round.
	 */
	void stop();

	/**
	 * Waits for the end of the current round.
	 */
	void join(Duration period) throws InterruptedException;

}
