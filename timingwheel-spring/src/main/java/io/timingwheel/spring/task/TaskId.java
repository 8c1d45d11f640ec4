package io.timingwheel.spring.task;

import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;

/**
 * The identity of a keyed task: at most one task is pending under it. Immutable.
 *
 * @param name the task's name, as {@link #checkName} permits it
 * @param key the key within the name; the keys {@code 5L} and {@code "5"} are the same
 * @since 0.1
 */
public record TaskId(String name, String key) {

	/**
	 * What {@link Object#toString()} gives for an array or another object. Reads a text
	 * once, however long it is, since a stranger may choose a key.
	 */
	private static final Pattern IDENTITY = Pattern
		.compile("(\\[(?:[ZBCSIJFD]|L[^;@\\s\\[]++;)(?=@)|[\\p{L}\\p{N}_$./]++)(?:@([0-9a-f]{1,8})(?![\\w.-]))?");

	private static final String HIDDEN_CLASS = "$$Lambda";

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
		if (ClassUtils.isPrimitiveWrapper(key.getClass()) || key instanceof UUID) {
			return key.toString();
		}
		if (ClassUtils.getMethod(key.getClass(), "toString").getDeclaringClass() == Object.class) {
			throw refused(key.getClass().getTypeName());
		}
		String text = key.toString();
		if (text == null) {
			throw new IllegalArgumentException("The key is a %s whose toString() gives null; give it a text"
				.formatted(key.getClass().getTypeName()));
		}
		if (text.indexOf('@') >= 0) {
			checkParts(key, text);
		}
		return text;
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

	/**
	 * A text that tells the identity of an object, as {@link Object#toString()} does, is
	 * not a key: another object with the same values has another text, and two objects
	 * with the same hash code have the same. Such a text is refused wherever it stands,
	 * since collections, records and strings contain the texts of their parts.
	 */
	private static void checkParts(Object key, String text) {
		Matcher matcher = IDENTITY.matcher(text);
		while (matcher.find()) {
			String name = matcher.group(1);
			String hash = matcher.group(2);
			if (hash != null && name.startsWith("[")) {
				throw refused("an array");
			}
			boolean refused = hash != null && (name.equals(key.getClass().getName())
					? hash.equals(Integer.toHexString(key.hashCode()))
					: name.contains(HIDDEN_CLASS) || ClassUtils.isPresent(name, key.getClass().getClassLoader()));
			if (refused) {
				throw refused(name);
			}
		}
	}

	private static IllegalArgumentException refused(String type) {
		return new IllegalArgumentException(
				("The key has no text of its own: the text of %s changes from one object to the next, so no later call"
						+ " would have the same key; use a part of it that identifies the task, such as an id, or give"
						+ " its class a toString() of its values, as a record has")
					.formatted(type));
	}

}
