package io.timingwheel.spring.task.memory;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The slots under which pending tasks are kept. Users' keys are the same if their texts
 * are the same. A key that is a whole number is kept as a {@code Long}. A {@code Long}
 * takes half the memory of a text, and is often an argument of the call, which is in
 * memory anyway.
 */
final class TaskKeys {

	private static final int MAX_DIGITS = 18;

	private TaskKeys() {
	}

	/**
	 * The slot of a user's key, the same for all keys with the same text.
	 */
	static Object of(Object key) {
		if (key instanceof Long) {
			return withoutExtremes((Long) key);
		}
		if (key instanceof Integer || key instanceof Short || key instanceof Byte) {
			return ((Number) key).longValue();
		}
		String text = String.valueOf(key);
		return isCanonicalNumber(text) ? (Object) Long.valueOf(text) : text;
	}

	/**
	 * The text of a user's key.
	 * @param slot the slot of the task
	 * @return the text, {@code null} if the task has no key
	 */
	static @Nullable String text(Object slot) {
		return (slot instanceof Unkeyed) ? null : slot.toString();
	}

	/**
	 * The identity of a task.
	 * @param name the name of the task
	 * @param slot its slot
	 * @return the identity, {@code null} if the task has no key
	 */
	static @Nullable TaskId taskId(String name, Object slot) {
		String key = text(slot);
		return (key != null) ? new TaskId(name, key) : null;
	}

	private static Object withoutExtremes(Long key) {
		return (key > -1_000_000_000_000_000_000L && key < 1_000_000_000_000_000_000L) ? key : key.toString();
	}

	/**
	 * Whether the text is what {@link Long#toString} gives for a number of at most 18
	 * digits.
	 */
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

	/**
	 * The slot of a task without a key.
	 */
	record Unkeyed(long sequence) {

	}

}
