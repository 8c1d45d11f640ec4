package io.timingwheel.spring.durable.support;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a node has done since its start. The figures only grow. Thread-safe.
 *
 * @since 0.1
 */
public final class NodeFigures {

	private final LongAdder claims = new LongAdder();

	private final LongAdder claimed = new LongAdder();

	private final LongAdder lost = new LongAdder();

	private final LongAdder refused = new LongAdder();

	private final LongAdder retried = new LongAdder();

	private final LongAdder released = new LongAdder();

	private final LongAdder expiredDead = new LongAdder();

	NodeFigures() {
	}

	void addClaim(int tasks) {
		this.claims.increment();
		this.claimed.add(tasks);
	}

	void addLost() {
		this.lost.increment();
	}

	void addRefused() {
		this.refused.increment();
	}

	void addRetried() {
		this.retried.increment();
	}

	void addReleased() {
		this.released.increment();
	}

	void addExpiredDead(int tasks) {
		this.expiredDead.add(tasks);
	}

	/**
	 * How often the node has claimed tasks.
	 * @return the number of claims that the store has answered, with tasks or without
	 */
	public long claims() {
		return this.claims.sum();
	}

	/**
	 * How many tasks the node has claimed.
	 * @return the number of tasks
	 */
	public long claimed() {
		return this.claimed.sum();
	}

	/**
	 * How many leases the node has lost before it settled their tasks.
	 * @return the number of leases
	 */
	public long lostLeases() {
		return this.lost.sum();
	}

	/**
	 * How many tasks the store did not begin when they were due, since they were
	 * cancelled, replaced, moved, or claimed by another node.
	 * @return the number of tasks
	 */
	public long refusedBegins() {
		return this.refused.sum();
	}

	/**
	 * How many failures of tasks led to another attempt.
	 * @return the number of failures
	 */
	public long retried() {
		return this.retried.sum();
	}

	/**
	 * How many tasks the node has given back.
	 * @return the number of tasks
	 */
	public long released() {
		return this.released.sum();
	}

	/**
	 * How many dead tasks the node has deleted at the end of their retention.
	 * @return the number of tasks
	 */
	public long expiredDead() {
		return this.expiredDead.sum();
	}

}
