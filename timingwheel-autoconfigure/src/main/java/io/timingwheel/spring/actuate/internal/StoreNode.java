package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.core.NestedRuntimeException;

/**
 * This node, which claims and runs durable tasks, and what it knows of the other nodes.
 * Thread-safe.
 */
public interface StoreNode {

	/** The name of the type of the store, for the log. */
	String storeName();

	/** Ends the claims of this node until {@link #resume()}. */
	void pause();

	void resume();

	/** Not during a pause, nor once the application shuts down. */
	boolean isClaiming();

	/** By the latest poll of this node, or its own latest change. */
	boolean isPaused(String name);

	/** Whether a property of this node pauses a name. */
	boolean isPausedByPolicy(String name);

	/**
	 * For all nodes. An {@link UnsupportedOperationException} if the store cannot do so.
	 */
	void setPaused(String name, boolean paused);

	/** How many tasks this node holds, waiting and running. */
	int inFlight();

	Figures figures();

	/** By the latest requests of this node; {@code null} if the store answers. */
	@Nullable Outage outage();

	/**
	 * All nodes of the store, the latest report first. Does not call a store that is
	 * known not to answer.
	 */
	List<Reported> nodes();

	/**
	 * The longest time between two reports of a node that runs, if all have the settings
	 * of this node.
	 */
	Duration reportInterval();

	/**
	 * What a node has done since its start. The store has refused to begin some tasks
	 * when they were due. Dead tasks are deleted at the end of their retention, or
	 * because the store keeps only so many.
	 */
	record Figures(long claims, long claimed, long retried, long released, long refused, long lostLeases,
			long expiredDead, long droppedDead) {

	}

	/**
	 * The latest error of a store that does not answer, since when by this node's clock,
	 * and which parts if others answer.
	 */
	record Outage(Throwable error, Instant since, Set<String> missingParts) {

		/** The first error below those of Spring, whose texts have whole statements. */
		public Throwable reason() {
			Throwable reason = this.error;
			while (reason instanceof NestedRuntimeException && reason.getCause() != null) {
				reason = reason.getCause();
			}
			return reason;
		}

	}

	/**
	 * A node of the store, how many tasks it has claimed and not settled, and how long
	 * ago it has reported this.
	 */
	record Reported(String id, boolean thisNode, boolean claiming, int inFlight, Duration age) {

	}

}
