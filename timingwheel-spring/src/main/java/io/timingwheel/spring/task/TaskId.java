package io.timingwheel.spring.task;

import org.springframework.util.Assert;

/**
 * The identity of a keyed task: at most one task is pending under it. Immutable.
 *
 * @param name the task's name
 * @param key the key within the name; the keys {@code 5L} and {@code "5"} are the same
 * @since 0.1
 */
public record TaskId(String name, String key) {

	/**
	 * Checks the parts.
	 * @throws IllegalArgumentException if the name is empty or a part is {@code null}
	 */
	public TaskId {
		Assert.hasText(name, "The name of a task must not be empty");
		Assert.notNull(key, () -> "The key of a task must not be null (name \"" + name + "\")");
	}

	/**
	 * Creates an identity.
	 * @param name the task's name
	 * @param key the key within the name; converted by {@code String.valueOf}
	 * @return the identity
	 * @throws IllegalArgumentException if the name is empty or the key is {@code null}
	 */
	public static TaskId of(String name, Object key) {
		Assert.notNull(key, () -> "The key of a task must not be null (name \"" + name + "\")");
		return new TaskId(name, String.valueOf(key));
	}

	@Override
	public String toString() {
		return this.name + "/" + this.key;
	}

}
