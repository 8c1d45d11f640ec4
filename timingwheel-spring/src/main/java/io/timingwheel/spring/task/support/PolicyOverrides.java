package io.timingwheel.spring.task.support;

import java.util.Set;

/**
 * The policies that the configuration of an application sets by name, in place of those
 * of the annotations. Implementations are thread-safe.
 *
 * @since 0.1
 */
public interface PolicyOverrides {

	/**
	 * Finds the policy of a name.
	 * @param name the name of tasks
	 * @return what the configuration sets for the name, {@link PolicySettings#NONE} for
	 * nothing
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
	static PolicyOverrides none() {
		return new PolicyOverrides() {

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
