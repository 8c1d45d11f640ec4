package io.timingwheel.spring.durable.node;

import java.time.Duration;

import io.timingwheel.spring.durable.node.DurableNode.Settings;

/**
 * Calls the rounds of one part of a node, also after an exception. In production each
 * loop has a thread. With virtual time, the thread that moves the time runs the rounds.
 * Thread-safe.
 */
public interface NodeLoop {

	void start();

	/**
	 * Ends the round with a wait until a wake-up, also one since the last wait.
	 * @param restNanos a time that no wake-up cuts, which saves requests
	 * @param nanos how long at most, {@link Long#MAX_VALUE} for no limit
	 */
	void await(long restNanos, long nanos);

	/**
	 * Ends the round with a wait that no wake-up cuts. With virtual time it lasts until a
	 * test moves the time.
	 */
	default void sleep(long nanos) {
		await(nanos, nanos);
	}

	void wake();

	/**
	 * Ends the rounds, and waits for the end of the current one.
	 * @param period how long at most
	 */
	void stop(Duration period) throws InterruptedException;

	interface Factory {

		NodeLoop loop(String name, Runnable round);

		default Settings settings(Settings settings) {
			return settings;
		}

		/**
		 * How long to wait for what others do to the store. With virtual time the node
		 * looks at the store when a test moves the time.
		 */
		default long poll(long nanos) {
			return nanos;
		}

		/** With virtual time, runs the rounds that are due on the calling thread. */
		default void flush() {
		}

		static Factory onThreads() {
			return ThreadLoop::new;
		}

	}

}
