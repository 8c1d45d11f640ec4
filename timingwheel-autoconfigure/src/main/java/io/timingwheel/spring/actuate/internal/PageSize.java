package io.timingwheel.spring.actuate.internal;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/** Keeps a page of JSON below a size, by cautious estimates of what is in it. */
final class PageSize {

	private PageSize() {
	}

	/**
	 * The first items that have room on a page, at least one.
	 * @param room how many bytes the page has for the items
	 * @param bytes estimates what an item takes
	 */
	static <T> List<T> firstOf(Collection<T> items, int limit, int room, ToIntFunction<T> bytes) {
		List<T> page = new ArrayList<>();
		int left = room;
		for (T item : items) {
			left -= bytes.applyAsInt(item);
			if (page.size() == limit || (left < 0 && !page.isEmpty())) {
				break;
			}
			page.add(item);
		}
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

	/** The texts in JSON and UTF-8, where control characters take six. */
	static int bytes(@Nullable String... texts) {
		return Stream.of(texts).filter(Objects::nonNull).flatMapToInt(String::chars).map(PageSize::bytes).sum();
	}

	private static int bytes(int c) {
		return (c < ' ') ? 6 : (c == '"' || c == '\\') ? 2 : (c < 128) ? 1 : 3;
	}

}
