package io.timingwheel.spring.durable.store;

import java.nio.charset.StandardCharsets;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * What a store can keep without a change: names and keys of at most
 * {@link #MAX_NAME_BYTES} and {@link #MAX_KEY_BYTES} bytes of UTF-8, without NUL, and
 * without half of a surrogate pair. The checks throw an {@link IllegalArgumentException}.
 *
 * @since 0.1
 */
public final class TaskLimits {

	public static final int MAX_NAME_BYTES = 255;

	public static final int MAX_KEY_BYTES = 512;

	private TaskLimits() {
	}

	public static void checkName(String name) {
		check("name", name, MAX_NAME_BYTES);
	}

	public static void checkKey(@Nullable String key) {
		if (key != null) {
			check("key", key, MAX_KEY_BYTES);
		}
	}

	public static boolean isStorable(TaskId id) {
		return isStorableName(id.name()) && problem(id.key(), MAX_KEY_BYTES) == null;
	}

	public static boolean isStorableName(String name) {
		return problem(name, MAX_NAME_BYTES) == null;
	}

	private static void check(String what, String text, int maxBytes) {
		String problem = problem(text, maxBytes);
		Assert.isTrue(problem == null, () -> "The %s of a durable task %s".formatted(what, problem));
	}

	private static @Nullable String problem(String text, int maxBytes) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		if (!text.equals(new String(bytes, StandardCharsets.UTF_8))) {
			return "must be valid Unicode, without half of a surrogate pair";
		}
		if (bytes.length > maxBytes) {
			return "has %d bytes of UTF-8, and may have %d: \"%s\"".formatted(bytes.length, maxBytes, text);
		}
		return (text.indexOf('\0') >= 0) ? "holds the character NUL" : null;
	}

	/**
	 * Shortens the text of an error, and replaces what some stores refuse or change: NUL,
	 * and halves of surrogate pairs.
	 */
	public static String error(String text) {
		String cut = text.substring(0, Math.min(text.length(), DelayedTaskStore.MAX_ERROR_LENGTH));
		// A cut may leave half of a surrogate pair.
		return cut.replaceAll("\\p{Cs}", "\ufffd").replace('\0', ' ');
	}

}
