package io.timingwheel.spring.durable.store;

import java.time.Duration;

/**
 * What a node reports about itself.
 *
 * @param nodeId as in its claims
 * @param inFlight how many tasks the node has claimed and not settled
 * @since 0.1
 */
public record NodeState(String nodeId, Activity activity, int inFlight) {

	public enum Activity {

		CLAIMING,

		PAUSED,

		/** The store forgets its reports. */
		ENDED

	}

	/**
	 * A node as the store knows it.
	 *
	 * @param age how long ago the node has reported this, by the store's clock; not
	 * negative
	 */
	public record Reported(NodeState state, Duration age) {

	}

}
