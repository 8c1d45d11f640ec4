package io.timingwheel.spring.durable.support;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.LeasedTask;

/**
 * What a claim of several names has taken so far. Not thread-safe.
 *
 * @since 0.1
 */
public final class PartialClaim {

	private final List<LeasedTask> tasks = new ArrayList<>();

	private final Set<String> heldBack = new HashSet<>();

	private long now;

	private long nextAt = Long.MAX_VALUE;

	private long startAt = Long.MAX_VALUE;

	PartialClaim() {
	}

	/**
	 * Adds what a claim of other names, or of a part of the names, has taken.
	 * @param claimed the result of that claim
	 */
	public void add(Claimed claimed) {
		add(claimed.tasks());
		heard(claimed.now());
		this.nextAt = Math.min(this.nextAt, claimed.nextAt());
	}

	/**
	 * Adds tasks that were claimed.
	 * @param tasks the tasks
	 */
	public void add(List<LeasedTask> tasks) {
		this.tasks.addAll(tasks);
	}

	/**
	 * Learns the time.
	 * @param now the time by the store's clock, in milliseconds since the epoch
	 */
	public void heard(long now) {
		this.now = Math.max(this.now, now);
	}

	/**
	 * Learns when a task of a limited name may start that this claim did not start.
	 * @param time milliseconds since the epoch, {@link Long#MAX_VALUE} for none
	 */
	public void startsAt(long time) {
		this.startAt = Math.min(this.startAt, time);
	}

	/**
	 * Learns that tasks of a name may be due that wait until others of the name end.
	 * @param name the limited name
	 */
	public void heldBack(String name) {
		this.heldBack.add(name);
	}

	/**
	 * Learns that there is something to claim at once, such as a new suspect.
	 * @param now the time by the store's clock, in milliseconds since the epoch
	 */
	public void goesOnAt(long now) {
		this.nextAt = Math.min(this.nextAt, now);
	}

	int size() {
		return this.tasks.size();
	}

	boolean hasTime() {
		return this.now != 0;
	}

	boolean hasSuspect() {
		return this.tasks.stream().anyMatch(LeasedTask::suspect);
	}

	/**
	 * Ends the claim early. Tasks that have begun are returned, since nobody else would
	 * run them until their leases end. The next claim follows at once, and shows whether
	 * the store still fails.
	 */
	void endedBy(RuntimeException failure) {
		if (this.tasks.isEmpty()) {
			throw failure;
		}
		this.nextAt = this.now;
	}

	Claimed claimed() {
		return new Claimed(List.copyOf(this.tasks), this.now, this.nextAt, this.startAt, Set.copyOf(this.heldBack));
	}

}
