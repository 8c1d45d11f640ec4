package io.timingwheel.spring.durable.store;

import java.time.Duration;

/**
 * What a node reports about itself.
 *
 * @param nodeId the node, as in its claims
 * @param activity what the node does
 * @param inFlight how many tasks the node has claimed and not settled
 * @since 0.1
 */
public record NodeState(String nodeId, Activity activity, int inFlight) {

	/**
	 * What a node does.
	 *
	 * @since 0.1
	 */
	public enum Activity {

		/** The node claims tasks. */
		CLAIMING,

		/** The node claims no tasks at the moment. */
		PAUSED,

		/** The node ends. The store forgets its reports. */
		ENDED

	}

	/**
	 * A node as the store knows it.
	 *
	 * @param state what the node has reported
	 * @param age how long ago the node has reported this, by the clock of the store; not
	 * negative
	 * @since 0.1
	 */
	public record Reported(NodeState state, Duration age) {

	}

}
