package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * This node, which claims and runs durable tasks, and what it knows of the other nodes.
 * Thread-safe.
 *
 * @since 0.1
 */
public interface StoreNode {

	/** The name of the type of the store, for the log. */
	String storeName();

	/** Ends the claims of this node until {@link #resume()}. */
	void pause();

	/** Ends a {@link #pause()}. */
	void resume();

	/**
	 * Whether this node claims tasks: not during a pause, nor once the application shuts
	 * down.
	 */
	boolean isClaiming();

	/**
	 * Whether this node starts no task of a name, by its latest poll or its own latest
	 * change.
	 */
	boolean isPaused(String name);

	/** Whether a property of this node pauses a name. */
	boolean isPausedByPolicy(String name);

	/**
	 * Pauses or resumes a name for all nodes. An {@link UnsupportedOperationException} if
	 * the store cannot do so.
	 */
	void setPaused(String name, boolean paused);

	/** How many tasks this node holds, waiting and running. */
	int inFlight();

	/** What this node has done since its start. */
	Figures figures();

	/**
	 * What is wrong with the store, by the latest requests of this node; {@code null} if
	 * it answers.
	 */
	@Nullable Outage outage();

	/**
	 * What the nodes of the store have reported, this one among them, the latest report
	 * first. Does not call a store that is known not to answer.
	 */
	List<Reported> nodes();

	/**
	 * The longest time between two reports of a node that runs, if all have the settings
	 * of this node.
	 */
	Duration reportInterval();

	/**
	 * What a node has done since its start. The figures only grow.
	 *
	 * @param claims how often it has claimed tasks
	 * @param claimed how many tasks it has claimed
	 * @param retried how many failures led to another attempt
	 * @param released how many tasks it has given back
	 * @param refused how many tasks the store did not begin when they were due
	 * @param lostLeases how many leases it has lost before it settled their tasks
	 * @param expiredDead how many dead tasks it has deleted at the end of their retention
	 * @param droppedDead how many dead tasks it has deleted because the store keeps only
	 * so many
	 */
	record Figures(long claims, long claimed, long retried, long released, long refused, long lostLeases,
			long expiredDead, long droppedDead) {

	}

	/**
	 * A store, or a part of it, that does not answer.
	 *
	 * @param error the latest error
	 * @param since since when, by this node's clock; {@code null} if it is not known
	 * @param missingParts the parts that do not answer while others do; empty if no part
	 * answers
	 */
	record Outage(Throwable error, @Nullable Instant since, Set<String> missingParts) {

	}

	/**
	 * A node of the store.
	 *
	 * @param id its id
	 * @param thisNode whether it is the node that answers
	 * @param claiming whether it claims tasks
	 * @param inFlight how many tasks it has claimed and not settled
	 * @param age how long ago it has reported this
	 */
	record Reported(String id, boolean thisNode, boolean claiming, int inFlight, Duration age) {

	}

}
