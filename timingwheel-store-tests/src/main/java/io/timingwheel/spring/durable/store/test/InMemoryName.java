package io.timingwheel.spring.durable.store.test;

import java.util.HashMap;
import java.util.Map;

import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.StartLimits;
import org.jspecify.annotations.Nullable;

/**
 * How many tasks of a name a claim may take: the share of the node, and the limits of the
 * name over all nodes. The claim has made suspects of all tasks whose leases are over.
 */
final class InMemoryName {

	private static final StartLimits NO_LIMITS = new StartLimits(0, 0, 0, 1);

	private final InMemoryTasks tasks;

	private final String name;

	private final Share share;

	private final StartLimits limits;

	private final long now;

	private int due;

	private int soon;

	/** The running tasks and the leased suspects. */
	private int running;

	/** The running tasks and the leased suspects, by key. */
	private final Map<String, Integer> runningKeys = new HashMap<>();

	/** The suspects that no node has, by key. */
	private final Map<String, Integer> waitingKeys = new HashMap<>();

	/** Whether a suspect waits for a node. */
	private boolean suspectWaits;

	InMemoryName(InMemoryTasks tasks, String name, Share share, long now) {
		this.tasks = tasks;
		this.name = name;
		this.share = share;
		this.limits = (share.limits() != null) ? share.limits() : NO_LIMITS;
		this.now = now;
		if (isLimited()) {
			tasks.running().filter((task) -> task.name.equals(name)).forEach(this::countRun);
			tasks.suspects().filter((task) -> task.name.equals(name)).forEach(this::countSuspect);
		}
		if (this.limits.intervalMicros() > 0) {
			tasks.nextStarts.computeIfPresent(name, (key, nextStart) -> this.limits.atMost(nextStart, micros()));
		}
	}

	private void countRun(InMemoryTask task) {
		this.running++;
		if (task.key != null) {
			this.runningKeys.merge(task.key, 1, Integer::sum);
		}
	}

	private void countSuspect(InMemoryTask task) {
		if (!task.isFree(this.now)) {
			countRun(task);
			return;
		}
		this.suspectWaits |= task.isDue(this.now);
		if (task.key != null) {
			this.waitingKeys.merge(task.key, 1, Integer::sum);
		}
	}

	boolean isLimited() {
		return this.share.limits() != null;
	}

	/** Whether the node wants another task that is due, or due soon. */
	boolean hasRoom(boolean due) {
		return due ? this.due < this.share.due() : this.soon < this.share.soon();
	}

	/** Counts a task for the share. */
	void give(boolean due) {
		this.due += due ? 1 : 0;
		this.soon += due ? 0 : 1;
	}

	boolean isExpired(InMemoryTask task) {
		return isLimited() && this.share.expireAfter() != null
				&& this.now > InMemoryTasks.after(task.dueAt, this.share.expireAfter());
	}

	/**
	 * Whether a task may run beside those that are running. One place is for a suspect if
	 * one waits, since it could wait for ever otherwise. A task waits for the suspects
	 * with its key, so that the tasks of a key run in their order.
	 */
	boolean hasPlace(InMemoryTask task) {
		return hasPlaces(this.suspectWaits ? 1 : 0) && isKeyFree(task.key, this.waitingKeys);
	}

	/**
	 * Whether a suspect may begin. Suspects with the same key do not wait for each other.
	 */
	boolean allowsSuspect(InMemoryTask task) {
		return hasPlaces(0) && isKeyFree(task.key, Map.of()) && hasStart();
	}

	private boolean hasPlaces(int reserved) {
		return this.limits.concurrent() == 0 || this.running + reserved < this.limits.concurrent();
	}

	private boolean isKeyFree(@Nullable String key, Map<String, Integer> waiting) {
		return this.limits.perKey() == 0 || key == null
				|| this.runningKeys.getOrDefault(key, 0) + waiting.getOrDefault(key, 0) < this.limits.perKey();
	}

	/** Whether the rate allows a start now. */
	boolean hasStart() {
		return this.limits.startsAllowed(nextStart(), micros()) > 0;
	}

	long startsAgainAt() {
		return this.limits.startsAgainAt(nextStart());
	}

	private long nextStart() {
		return this.tasks.nextStarts.getOrDefault(this.name, 0L);
	}

	private long micros() {
		return this.now * 1000;
	}

	/** Counts a task for the limits. */
	void count(InMemoryTask task) {
		countRun(task);
		if (this.limits.intervalMicros() > 0) {
			this.tasks.nextStarts.put(this.name, this.limits.nextStart(nextStart(), micros(), 1));
		}
	}

}
