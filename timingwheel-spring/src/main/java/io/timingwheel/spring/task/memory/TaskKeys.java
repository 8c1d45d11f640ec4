package io.timingwheel.spring.task.memory;

import java.util.concurrent.ThreadLocalRandom;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The slots under which pending tasks are kept, and the ids of tasks. Users' keys are the
 * same if their texts are. A whole number is kept as a {@code Long}, which takes half the
 * memory of a text. An id is a prefix, different for each run of the JVM, and the
 * sequence of the task.
 */
final class TaskKeys {

	private static final int MAX_DIGITS = 18;

	private static final long BOUND = 1_000_000_000_000_000_000L;

	private static final String ID_PREFIX = "%08x-".formatted(ThreadLocalRandom.current().nextInt());

	private TaskKeys() {
	}

	/** The slot of a user's key, the same for all keys with the same text. */
	static Object of(Object key) {
		if (key instanceof Long number && number > -BOUND && number < BOUND) {
			return number;
		}
		if (key instanceof Integer || key instanceof Short || key instanceof Byte) {
			return ((Number) key).longValue();
		}
		String text = String.valueOf(key);
		return isCanonicalNumber(text) ? (Object) Long.valueOf(text) : text;
	}

	/** The text of a user's key, {@code null} if the task has none. */
	static @Nullable String text(Object slot) {
		return (slot instanceof Unkeyed) ? null : slot.toString();
	}

	static @Nullable TaskId taskId(String name, Object slot) {
		String key = text(slot);
		return (key != null) ? new TaskId(name, key) : null;
	}

	static String idOf(long sequence) {
		return ID_PREFIX + sequence;
	}

	/** The sequence in an id, 0 if this JVM has not made the id. */
	static long sequenceOf(String id) {
		String number = id.startsWith(ID_PREFIX) ? id.substring(ID_PREFIX.length()) : "";
		return isCanonicalNumber(number) ? Long.parseLong(number) : 0;
	}

	/** Whether the text is that of a {@code long} of at most 18 digits. */
	private static boolean isCanonicalNumber(String text) {
		int length = text.length();
		int start = (length > 0 && text.charAt(0) == '-') ? 1 : 0;
		int digits = length - start;
		if (digits == 0 || digits > MAX_DIGITS || (text.charAt(start) == '0' && length > 1)) {
			return false;
		}
		for (int i = start; i < length; i++) {
			char c = text.charAt(i);
			if (c < '0' || c > '9') {
				return false;
			}
		}
		return true;
	}

	record Unkeyed(long sequence) {

	}

}
