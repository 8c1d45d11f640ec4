package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The policies of all names: those of the annotations, each part overridden by the
 * configuration. A name that no method has, such as one of the template, has only what
 * the configuration sets. Thread-safe.
 *
 * @since 0.1
 */
public final class TaskPolicies {

	/** The backoff in memory, which is also the default of the stores. */
	public static final Backoff DEFAULT_BACKOFF = new Backoff(Duration.ofSeconds(1), 2, Duration.ofMinutes(10), 0.2);

	private final Map<String, PolicySettings> declared = new ConcurrentHashMap<>();

	/** The names of methods that are switched off. */
	private final Set<String> switchedOff = ConcurrentHashMap.newKeySet();

	private final Overrides overrides;

	private final boolean exactBackoff;

	/**
	 * Creates policies.
	 * @param overrides what the configuration sets
	 * @param exactBackoff whether backoffs do not vary, whatever their jitter is
	 */
	public TaskPolicies(Overrides overrides, boolean exactBackoff) {
		this.overrides = overrides;
		this.exactBackoff = exactBackoff;
	}

	/**
	 * Returns policies that consist of the defaults.
	 * @return new policies
	 */
	public static TaskPolicies none() {
		return new TaskPolicies(Overrides.none(), false);
	}

	/**
	 * Sets the policy of a method.
	 * @param name the name of its tasks
	 * @param policy the policy of its annotation
	 */
	public void declare(String name, PolicySettings policy) {
		this.declared.put(name, policy.overriddenBy(this.overrides.of(name)));
	}

	/**
	 * Records that a method is switched off. The configuration may set the policy of its
	 * tasks nevertheless.
	 * @param name the name that its tasks would have
	 */
	public void addSwitchedOff(String name) {
		this.switchedOff.add(name);
	}

	/**
	 * The policy of a name.
	 * @param name the name of tasks; for a durable task the name of its handler, not an
	 * earlier one
	 * @return the policy, {@link PolicySettings#NONE} for none
	 */
	public PolicySettings of(String name) {
		PolicySettings policy = this.declared.get(name);
		return (policy != null) ? policy : this.overrides.of(name);
	}

	/**
	 * How long a task of a name waits after a failure.
	 * @param name the name of the task
	 * @param defaults the parts that the policy does not set
	 * @return the backoff
	 */
	public Backoff backoff(String name, Backoff defaults) {
		Backoff backoff = of(name).backoff().complete(defaults);
		return this.exactBackoff ? new Backoff(backoff.initial(), backoff.multiplier(), backoff.max(), 0) : backoff;
	}

	/**
	 * Warns of names in the configuration that no method has. Called once all methods
	 * have declared theirs.
	 */
	public void checkNames() {
		Set<String> names = new TreeSet<>(this.declared.keySet());
		names.addAll(this.switchedOff);
		this.overrides.checkNames(names);
	}

	/**
	 * The policies that the configuration of an application sets by name, in place of
	 * those of the annotations. Implementations are thread-safe.
	 *
	 * @since 0.1
	 */
	public interface Overrides {

		/**
		 * Finds the policy of a name.
		 * @param name the name of tasks
		 * @return what the configuration sets for the name, {@link PolicySettings#NONE}
		 * for nothing
		 */
		PolicySettings of(String name);

		/**
		 * Called when the names of all methods are known.
		 * @param names the names
		 */
		void checkNames(Set<String> names);

		/**
		 * Returns an instance that overrides nothing.
		 * @return an instance without policies
		 */
		static Overrides none() {
			return new Overrides() {

				@Override
				public PolicySettings of(String name) {
					return PolicySettings.NONE;
				}

				@Override
				public void checkNames(Set<String> names) {
				}

			};
		}

	}

}
