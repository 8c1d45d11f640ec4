package io.timingwheel.spring.durable.support;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.StartLimits;
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

	private final TaskPolicies policies;

	private final DurableHandlerRegistry handlers;

	private final PausedNames pausedNames;

	private final Map<String, Optional<StartLimits>> limits = new ConcurrentHashMap<>();

	NamePolicies(TaskPolicies policies, DurableHandlerRegistry handlers, PausedNames pausedNames) {
		this.policies = policies;
		this.handlers = handlers;
		this.pausedNames = pausedNames;
	}

	/**
	 * Tells whether this node starts no task of a name.
	 * @param name the name, or an earlier name of the handler
	 */
	boolean isPaused(DurableHandler handler, String name) {
		return this.pausedNames.contains(name) || this.policies.of(handler.name()).isPaused();
	}

	/**
	 * Tells whether no task of a name starts, also if this node has no handler.
	 */
	boolean isPaused(String name) {
		DurableHandler handler = this.handlers.find(name);
		return (handler != null) ? isPaused(handler, name) : this.pausedNames.contains(name);
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
