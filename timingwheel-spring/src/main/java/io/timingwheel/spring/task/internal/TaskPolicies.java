package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;

/**
 * The policies of all names: those of the annotations, each part overridden by the
 * configuration. A name that no method has, such as one of the template, has only what
 * the configuration sets. Thread-safe.
 */
public final class TaskPolicies {

	/** The backoff in memory, which is also the default of the stores. */
	public static final BackoffSettings DEFAULT_BACKOFF = new BackoffSettings(Duration.ofSeconds(1), 2.0,
			Duration.ofMinutes(10), 0.2);

	private final Map<String, PolicySettings> declared = new ConcurrentHashMap<>();

	private final Overrides overrides;

	private final boolean exactBackoff;

	public TaskPolicies(Overrides overrides, boolean exactBackoff) {
		this.overrides = overrides;
		this.exactBackoff = exactBackoff;
	}

	public void declare(String name, PolicySettings policy) {
		this.declared.put(name, policy.overriddenBy(this.overrides.of(name)));
	}

	public PolicySettings of(String name) {
		PolicySettings policy = this.declared.get(name);
		return (policy != null) ? policy : this.overrides.of(name);
	}

	public BackoffSettings backoff(String name, BackoffSettings defaults) {
		BackoffSettings backoff = defaults.overriddenBy(of(name).backoff());
		return this.exactBackoff ? backoff.withoutJitter() : backoff;
	}

	/** Warns of names in the configuration that no method has. */
	public void checkNames() {
		this.overrides.checkNames(new TreeSet<>(this.declared.keySet()));
	}

	/** What the configuration sets by name, in place of the annotations. Thread-safe. */
	public interface Overrides {

		PolicySettings of(String name);

		/** Called when the names of all methods are known. */
		default void checkNames(Set<String> names) {
		}

	}

}
