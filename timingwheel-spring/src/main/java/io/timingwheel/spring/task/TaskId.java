package io.timingwheel.spring.task;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The identity of a keyed task: at most one task is pending under it. Immutable.
 *
 * @param name the task's name, as {@link #checkName} permits it
 * @param key the key within the name; the keys {@code 5L} and {@code "5"} are the same
 * @since 0.1
 */
public record TaskId(String name, String key) {

	/**
	 * Checks the parts.
	 * @throws IllegalArgumentException if no task can have this name, or a part is
	 * {@code null}
	 */
	public TaskId {
		checkName(name);
		Assert.notNull(key, () -> "The key of a task must not be null (name \"" + name + "\")");
	}

	/**
	 * Creates an identity.
	 * @param key the key within the name, as {@link #textOf} converts it
	 * @throws IllegalArgumentException if no task can have this name, the key is
	 * {@code null}, or the key has no text of its own
	 */
	public static TaskId of(String name, Object key) {
		Assert.notNull(key, () -> "The key of a task must not be null (name \"" + name + "\")");
		return new TaskId(name, textOf(key));
	}

	/**
	 * The text by which a key is compared: its {@code toString()}.
	 * @throws IllegalArgumentException if the text, or a part of it, is that of
	 * {@link Object#toString()}, as for an array, a lambda expression and a class without
	 * a {@code toString()} of its own: equal keys would have different texts
	 */
	public static String textOf(Object key) {
		return KeyText.of(key);
	}

	/**
	 * Checks the name of a task. A name has text, and no slash: a slash separates the
	 * name from the key in the paths of the endpoint {@code delayedtasks}.
	 * @throws IllegalArgumentException if no task can have this name
	 */
	public static void checkName(@Nullable String name) {
		Assert.hasText(name, "The name of a task must not be empty");
		Assert.isTrue(name.indexOf('/') < 0, () -> "The name of a task must not contain a slash, which separates a"
				+ " name from a key: \"" + name + "\". Use a dot, as in \"" + name.replace('/', '.') + "\"");
	}

	@Override
	public String toString() {
		return this.name + "/" + this.key;
	}

}
