package io.timingwheel.spring.durable.jdbc;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

import io.timingwheel.spring.durable.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Checks what must not be changed or cut by a database.
 */
final class Texts {

	private Texts() {
	}

	static void checkName(String name) {
		check("name", name, DelayedTaskStore.MAX_NAME_BYTES);
	}

	static void checkKey(@Nullable String key) {
		if (key != null) {
			check("key", key, DelayedTaskStore.MAX_KEY_BYTES);
		}
	}

	private static void check(String what, String text, int limit) {
		try {
			int bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text)).remaining();
			Assert.isTrue(bytes <= limit, () -> "The %s of a durable task may have %d bytes of UTF-8, not %d: %.40s..."
				.formatted(what, limit, bytes, text));
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException(
					"The %s of a durable task must be valid Unicode, without half of a surrogate pair".formatted(what),
					ex);
		}
	}

}
