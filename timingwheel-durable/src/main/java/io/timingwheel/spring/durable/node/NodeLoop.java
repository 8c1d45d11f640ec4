package io.timingwheel.spring.durable.node;

import java.time.Duration;

/**
 * Calls the rounds of one part of a node, one after another, until it is told to stop. An
 * exception in a round does not end the loop. In production each loop has a thread. In
 * tests with virtual time, the thread that moves the time runs the rounds. Thread-safe.
 *
 * @since 0.1
 */
public interface NodeLoop {

	/**
	 * Begins with the rounds.
	 */
	void start();

	/**
	 * Ends the round with a wait until somebody wakes the loop, or until a time has
	 * passed. The next round follows at once if somebody has woken the loop since its
	 * last wait. Only rounds call this, as their last action.
	 * @param nanos how long to wait at most, {@link Long#MAX_VALUE} for no limit
	 */
	default void await(long nanos) {
		await(0, nanos);
	}

	/**
	 * Ends the round with a wait whose first part nobody can shorten, except by
	 * {@link #stop()}. This part saves requests to the store, and there is none with
	 * virtual time. Only rounds call this, as their last action.
	 * @param nanos how long to wait at most, {@link Long#MAX_VALUE} for no limit
	 */
	void await(long restNanos, long nanos);

	/**
	 * Ends the round with a wait that nobody can shorten, except by {@link #stop()}. With
	 * virtual time, the wait lasts until a test moves the time again: nobody but the test
	 * can remove the cause of the wait. Only rounds call this, as their last action.
	 */
	void sleep(long nanos);

	/**
	 * Ends the wait of the loop, or the next one. Calls from within a round count, too.
	 */
	void wake();

	/**
	 * Whether the loop was told to stop.
	 */
	boolean isStopped();

	/**
	 * Makes the loop end after its current round.
	 */
	void stop();

	/**
	 * Waits for the end of the current round after {@link #stop()}.
	 * @param period how long to wait at most
	 * @throws InterruptedException if the calling thread is interrupted
	 */
	void join(Duration period) throws InterruptedException;

	/**
	 * Creates the loops of a node.
	 *
	 * @since 0.1
	 */
	interface Factory {

		/**
		 * Creates a loop that has not started.
		 */
		NodeLoop loop(String name, Runnable round);

		/**
		 * The settings of a node with these loops.
		 */
		default NodeSettings settings(NodeSettings settings) {
			return settings;
		}

		/**
		 * Whether the node looks at the store from time to time, since others may have
		 * changed it. With virtual time it looks when a test moves the time, when a task
		 * is due, and after its own changes.
		 */
		default boolean polls() {
			return true;
		}

		/**
		 * With virtual time, runs on the calling thread the rounds that are due. Does
		 * nothing if the loops have threads.
		 */
		default void flush() {
		}

		/**
		 * Gives each loop a thread.
		 */
		static Factory onThreads() {
			return ThreadLoop::new;
		}

	}

}
