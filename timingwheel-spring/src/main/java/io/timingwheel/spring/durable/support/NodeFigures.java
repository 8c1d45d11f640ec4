package io.timingwheel.spring.durable.support;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a node has done since its start. The figures only grow. Thread-safe.
 */
public final class NodeFigures {

	private final LongAdder claims = new LongAdder();

	private final LongAdder claimed = new LongAdder();

	private final LongAdder lost = new LongAdder();

	private final LongAdder refused = new LongAdder();

	private final LongAdder retried = new LongAdder();

	private final LongAdder released = new LongAdder();

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

	/**
	 * How often the store was asked for tasks.
	 * @return the number of requests that were answered
	 */
	public long claims() {
		return this.claims.sum();
	}

	/**
	 * How many tasks the store has given.
	 * @return the number of tasks
	 */
	public long claimed() {
		return this.claimed.sum();
	}

	/**
	 * How many leases were over before their tasks were settled.
	 * @return the number of leases
	 */
	public long lostLeases() {
		return this.lost.sum();
	}

	/**
	 * How many tasks were not begun when they were due, as they had been cancelled,
	 * replaced or moved, or another node had them.
	 * @return the number of tasks
	 */
	public long refusedBegins() {
		return this.refused.sum();
	}

	/**
	 * How many failures led to another attempt.
	 * @return the number of attempts
	 */
	public long retried() {
		return this.retried.sum();
	}

	/**
	 * How many tasks were given back.
	 * @return the number of tasks
	 */
	public long released() {
		return this.released.sum();
	}

}
