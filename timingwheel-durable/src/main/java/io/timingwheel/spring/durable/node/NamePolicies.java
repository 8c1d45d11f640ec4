package io.timingwheel.spring.durable.node;

import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.jspecify.annotations.Nullable;

/**
 * What keeps this node from starting the tasks of a name: the policy of the name, and the
 * switch in the store. A name is paused on this node if its policy says so, or the switch
 * does. Thread-safe.
 */
final class NamePolicies {

	private final DurableHandlers handlers;

	private final TaskPolicies policies;

	private final Map<String, Optional<StartLimits>> limits = new ConcurrentHashMap<>();

	/** The names that are paused in the store, as far as this node knows. */
	private volatile Set<String> paused = Set.of();

	/** Counts the changes that this node has made. */
	private volatile int changes;

	NamePolicies(DurableHandlers handlers, TaskPolicies policies) {
		this.handlers = handlers;
		this.policies = policies;
	}

	DurableHandlers handlers() {
		return this.handlers;
	}

	int changes() {
		return this.changes;
	}

	/**
	 * Records that this node has paused or resumed names in the store.
	 */
	synchronized void set(Collection<String> names, boolean paused) {
		Set<String> changed = new HashSet<>(this.paused);
		if (paused) {
			changed.addAll(names);
		}
		else {
			changed.removeAll(names);
		}
		this.paused = Set.copyOf(changed);
		this.changes++;
	}

	/**
	 * Learns which names are paused in the store.
	 * @param found the names
	 * @param changes the changes that this node had made before it asked; if it has made
	 * others since, the answer may be older than these
	 * @return the names that were not known to be paused
	 */
	synchronized Set<String> learn(Set<String> found, int changes) {
		if (changes != this.changes || found.equals(this.paused)) {
			return Set.of();
		}
		Set<String> added = new HashSet<>(found);
		added.removeAll(this.paused);
		this.paused = Set.copyOf(found);
		return added;
	}

	/**
	 * Tells whether no task of a name starts, also if this node has no handler.
	 */
	boolean isPaused(String name) {
		return this.paused.contains(name) || isPausedByPolicy(name);
	}

	/**
	 * Tells whether the policy of a name pauses it on this node. The switch in the store
	 * does not end this pause.
	 */
	boolean isPausedByPolicy(String name) {
		DurableHandler handler = this.handlers.find(name);
		return handler != null && this.policies.of(handler.name()).isPaused();
	}

	/**
	 * Tells whether tasks of a name that are due may have to wait, as far as this node
	 * knows.
	 */
	boolean mayHoldBack(String name) {
		DurableHandler handler = this.handlers.find(name);
		return isPaused(name) || (handler != null && limits(handler) != null);
	}

	/**
	 * The limits over all nodes, {@code null} if the starts of the name are not limited.
	 */
	@Nullable StartLimits limits(DurableHandler handler) {
		return this.limits
			.computeIfAbsent(handler.name(), (name) -> Optional.ofNullable(limits(this.policies.of(name))))
			.orElse(null);
	}

	private static @Nullable StartLimits limits(PolicySettings policy) {
		Integer concurrent = policy.maxConcurrent();
		Integer perKey = policy.maxConcurrentPerKey();
		StartRate rate = policy.rate();
		if (concurrent == null && perKey == null && rate == null) {
			return null;
		}
		return new StartLimits((concurrent != null) ? concurrent : 0, (perKey != null) ? perKey : 0,
				(rate != null) ? micros(rate.intervalNanos()) : 0, (rate != null) ? burst(rate) : 1);
	}

	private static long micros(long nanos) {
		long nanosPerMicro = TimeUnit.MICROSECONDS.toNanos(1);
		return (nanos + nanosPerMicro - 1) / nanosPerMicro;
	}

	/**
	 * Two thirds of the burst that the rate allows. A body starts some time after its
	 * task has begun in the store, so the bodies come closer together than the starts
	 * that the store counts.
	 */
	private static int burst(StartRate rate) {
		return (int) Math.min(Integer.MAX_VALUE, Math.max(1, rate.burst() * 2 / 3));
	}

}
