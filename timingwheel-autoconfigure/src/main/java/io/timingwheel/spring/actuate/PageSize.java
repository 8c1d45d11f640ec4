package io.timingwheel.spring.actuate;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Keeps a page of JSON below a size, by a cautious estimate of what is in it. The first
 * item of a page always has room. Not thread-safe.
 */
final class PageSize {

	/** The figures of a name, without the name. */
	private static final int COUNTS_BYTES = 210;

	/** A task, without its texts. */
	private static final int TASK_BYTES = 310;

	private final int itemBytes;

	private int room;

	private boolean empty = true;

	private PageSize(int room, int itemBytes) {
		this.room = room;
		this.itemBytes = itemBytes;
	}

	/** A page of names with their figures. */
	static PageSize ofNames() {
		return new PageSize(90_000, COUNTS_BYTES);
	}

	/** A page of names with their counts. */
	static PageSize ofForecast(int spans) {
		return new PageSize(95_000, 45 + 9 * spans);
	}

	/** One of two lists of tasks in an answer. */
	static PageSize ofTasks() {
		return new PageSize(47_000, TASK_BYTES);
	}

	/** Takes the room for one more item, if there is enough. */
	boolean hasRoomFor(@Nullable String... texts) {
		takeRoomFor(texts);
		boolean fits = this.room >= 0 || this.empty;
		this.empty = false;
		return fits;
	}

	/** Takes the room for what else is on the page. */
	void takeRoomFor(@Nullable String... texts) {
		this.room -= this.itemBytes;
		for (String text : texts) {
			this.room -= bytes(text);
		}
	}

	/** The first entries that have room, in their order. */
	<T> Map<String, T> firstOf(Collection<Map.Entry<String, T>> entries, int limit) {
		Map<String, T> page = new LinkedHashMap<>();
		entries.stream()
			.limit(limit)
			.takeWhile((entry) -> hasRoomFor(entry.getKey()))
			.forEach((entry) -> page.put(entry.getKey(), entry.getValue()));
		return page;
	}

	/**
	 * The longest beginning of a text that has no more than a number of bytes in JSON,
	 * without half of a character.
	 */
	static String beginOf(String text, int maxBytes) {
		int room = maxBytes;
		for (int i = 0; i < text.length(); i++) {
			room -= bytes(text.charAt(i));
			if (room < 0) {
				return text.substring(0, (i > 0 && Character.isHighSurrogate(text.charAt(i - 1))) ? i - 1 : i);
			}
		}
		return text;
	}

	/** In JSON and UTF-8, where control characters take six. */
	private static int bytes(@Nullable String text) {
		int bytes = 0;
		for (int i = 0; text != null && i < text.length(); i++) {
			bytes += bytes(text.charAt(i));
		}
		return bytes;
	}

	private static int bytes(char c) {
		return (c < ' ') ? 6 : (c == '"' || c == '\\') ? 2 : (c < 128) ? 1 : 3;
	}

}
