package io.timingwheel.spring.task.support;

import org.jspecify.annotations.Nullable;

/**
 * The keys under which pending tasks are kept. Users' keys count by their text; those
 * that are whole numbers are kept as {@code Long}, which is half as large and, as a rule,
 * the very object among the call's arguments.
 */
final class TaskKeys {

	private static final int MAX_DIGITS = 18;

	private TaskKeys() {
	}

	/**
	 * The kept form of a user's key, the same for all keys with the same text.
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
	 * @param key a kept key
	 * @return the text, {@code null} if the task has none
	 */
	static @Nullable String text(Object key) {
		if (key instanceof Qualified qualified) {
			return text(qualified.key());
		}
		return (key instanceof Unkeyed) ? null : key.toString();
	}

	private static Object withoutExtremes(Long key) {
		return (key > -1_000_000_000_000_000_000L && key < 1_000_000_000_000_000_000L) ? key : key.toString();
	}

	/**
	 * Whether this is how {@link Long#toString} would write a number of at most 18
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
	 * The key of a task that has none.
	 */
	record Unkeyed(long sequence) {

	}

	/**
	 * A key where tasks of several names are kept together.
	 */
	record Qualified(String name, Object key) {

	}

}
