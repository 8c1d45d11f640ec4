package io.timingwheel.spring.task.memory;

import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * The slots under which pending tasks are kept, and the ids of tasks. Users' keys are the
 * same if their texts are. A whole number is kept as a {@code Long}, which takes half the
 * memory of a text.
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

	/**
	 * The id of a task: a prefix, different for each run of the JVM, the hash code of the
	 * slot, by which the map finds the task, and the sequence.
	 */
	static String idOf(Object slot, long sequence) {
		return ID_PREFIX + Integer.toHexString(slot.hashCode()) + "-" + sequence;
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

	/** What an id tells of its task. */
	record Id(int slotHash, long sequence) {

		private static final Pattern FORMAT = Pattern.compile(ID_PREFIX + "([0-9a-f]{1,8})-(\\d{1,18})");

		/** Reads a text. If it is no id of this JVM, the sequence is that of no task. */
		static Id parse(String text) {
			Matcher id = FORMAT.matcher(text);
			return id.matches() ? new Id(Integer.parseUnsignedInt(id.group(1), 16), Long.parseLong(id.group(2)))
					: new Id(0, 0);
		}

	}

}
