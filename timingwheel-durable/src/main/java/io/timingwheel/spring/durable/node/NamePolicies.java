package io.timingwheel.spring.durable.node;

import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.jspecify.annotations.Nullable;

/**
 * What keeps this node from starting tasks of a name: its policy here, and the switch in
 * the store. Thread-safe.
 */
final class NamePolicies {

	private final DurableHandlers handlers;

	private final TaskPolicies policies;

	private final Set<String> paused = ConcurrentHashMap.newKeySet();

	/** Counts the changes that this node has made. */
	private volatile int changes;

	NamePolicies(DurableHandlers handlers, TaskPolicies policies) {
		this.handlers = handlers;
		this.policies = policies;
	}

	int changes() {
		return this.changes;
	}

	synchronized void set(Collection<String> names, boolean paused) {
		this.changes++;
		if (paused) {
			this.paused.addAll(names);
		}
		else {
			this.paused.removeAll(names);
		}
	}

	/**
	 * Learns which names the store pauses, unless this node has changed that since it
	 * asked. Gives whether there is a name that was not known to be paused.
	 */
	synchronized boolean learn(Set<String> found, int changes) {
		if (changes != this.changes) {
			return false;
		}
		this.paused.retainAll(found);
		return this.paused.addAll(found);
	}

	boolean isPaused(String name) {
		return this.paused.contains(name) || isPausedByPolicy(name);
	}

	/** The switch in the store does not end this pause. */
	boolean isPausedByPolicy(String name) {
		return policy(name).isPaused();
	}

	boolean mayHoldBack(String name) {
		return isPaused(name) || limits(name) != null;
	}

	/** {@code null} if the starts of the name are not limited. */
	@Nullable StartLimits limits(String name) {
		PolicySettings policy = policy(name);
		StartRate rate = policy.rate();
		int concurrent = Objects.requireNonNullElse(policy.maxConcurrent(), 0);
		int perKey = Objects.requireNonNullElse(policy.maxConcurrentPerKey(), 0);
		if (rate == null) {
			return (concurrent + perKey > 0) ? new StartLimits(concurrent, perKey, 0, 1) : null;
		}
		// Two thirds of the allowed burst: bodies start a varying time after the starts
		// that the store counts, so they come closer together.
		long burst = Math.max(1, rate.burst() * 2 / 3);
		return new StartLimits(concurrent, perKey, TimeUnit.NANOSECONDS.toMicros(rate.intervalNanos() + 999),
				(int) Math.min(Integer.MAX_VALUE, burst));
	}

	private PolicySettings policy(String name) {
		return this.policies.of(this.handlers.canonicalName(name));
	}

}
