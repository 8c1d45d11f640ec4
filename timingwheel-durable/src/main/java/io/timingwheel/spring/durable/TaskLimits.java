package io.timingwheel.spring.durable;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The names and keys that a store can keep without a change: at most
 * {@link DelayedTaskStore#MAX_NAME_BYTES} and {@link DelayedTaskStore#MAX_KEY_BYTES}
 * bytes of UTF-8, without the character NUL, and without half of a surrogate pair.
 *
 * @since 0.1
 */
public final class TaskLimits {

	private static final int MALFORMED = -1;

	private TaskLimits() {
	}

	/**
	 * Checks a name.
	 * @param name the name
	 * @throws IllegalArgumentException if it cannot be stored
	 */
	public static void checkName(String name) {
		check("name", name, DelayedTaskStore.MAX_NAME_BYTES);
	}

	/**
	 * Checks a key.
	 * @param key the key, {@code null} for none
	 * @throws IllegalArgumentException if it cannot be stored
	 */
	public static void checkKey(@Nullable String key) {
		if (key != null) {
			check("key", key, DelayedTaskStore.MAX_KEY_BYTES);
		}
	}

	/**
	 * Tells whether a task with this name and key can be stored.
	 * @param id name and key
	 * @return {@code false} if no store has such a task
	 */
	public static boolean isStorable(TaskId id) {
		return isStorableName(id.name()) && isStorable(id.key(), DelayedTaskStore.MAX_KEY_BYTES);
	}

	/**
	 * Tells whether a task with this name can be stored.
	 * @param name the name
	 * @return {@code false} if no store has such a task
	 */
	public static boolean isStorableName(String name) {
		return isStorable(name, DelayedTaskStore.MAX_NAME_BYTES);
	}

	private static boolean isStorable(String text, int maxBytes) {
		int bytes = utf8Bytes(text);
		return bytes != MALFORMED && bytes <= maxBytes && text.indexOf('\0') < 0;
	}

	private static void check(String what, String text, int maxBytes) {
		int bytes = utf8Bytes(text);
		Assert.isTrue(bytes != MALFORMED,
				() -> "The %s of a durable task must be valid Unicode, without half of a surrogate pair"
					.formatted(what));
		Assert.isTrue(bytes <= maxBytes, () -> "The %s of a durable task has %d bytes of UTF-8, and may have %d: \"%s\""
			.formatted(what, bytes, maxBytes, text));
		Assert.isTrue(text.indexOf('\0') < 0, () -> "The %s of a durable task holds the character NUL".formatted(what));
	}

	private static int utf8Bytes(String text) {
		int bytes = 0;
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
				bytes += 4;
				i++;
			}
			else if (Character.isSurrogate(c)) {
				return MALFORMED;
			}
			else {
				bytes += (c < 0x80) ? 1 : (c < 0x800) ? 2 : 3;
			}
		}
		return bytes;
	}

}
