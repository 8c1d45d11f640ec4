package io.timingwheel.spring.durable.jdbc;

import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The characters that a PostgreSQL database can store. Immutable and thread-safe.
 *
 * @param name the name of the encoding, as the database has it
 * @param charset the characters that texts may have without escapes, {@code null} for all
 * @param checked whether the database refuses other characters
 */
record TextEncoding(String name, @Nullable Charset charset, boolean checked) {

	/** ISO 8859 has another number for some alphabets. */
	private static final Map<String, String> LATIN = Map.of("5", "9", "6", "10", "7", "13", "8", "14", "9", "15", "10",
			"16");

	/**
	 * Finds an encoding.
	 * @param name the setting {@code server_encoding}
	 */
	static TextEncoding of(String name) {
		return switch (name) {
			case "UTF8" -> new TextEncoding(name, null, false);
			// The database keeps any bytes, and counts bytes as characters.
			case "SQL_ASCII" -> new TextEncoding(name, StandardCharsets.US_ASCII, false);
			default -> new TextEncoding(name, charset(name), true);
		};
	}

	/**
	 * The charset of Java, or ASCII, which is a part of every encoding of PostgreSQL.
	 */
	private static Charset charset(String name) {
		String number = name.replaceFirst("\\D+", "");
		String charset = name.startsWith("LATIN") ? "ISO-8859-" + LATIN.getOrDefault(number, number)
				: name.startsWith("WIN") ? "windows-" + number : name.replace('_', '-').replace("KOI8", "KOI8-");
		return Charset.isSupported(charset) && Charset.forName(charset).canEncode() ? Charset.forName(charset)
				: StandardCharsets.US_ASCII;
	}

	/**
	 * Whether a column can have a text.
	 */
	boolean canStore(String text) {
		return text.indexOf('\0') < 0
				&& (!this.checked || this.charset == null || this.charset.newEncoder().canEncode(text));
	}

	/**
	 * Checks a name or key.
	 * @throws IllegalArgumentException if the database cannot store it
	 */
	void check(String text) {
		Assert.isTrue(canStore(text),
				() -> "The database has the encoding %s, which lacks a character of the name or key \"%s\""
					.formatted(this.name, text));
	}

	/**
	 * A text with escapes, such as <code>&#92;u2192</code>, for the characters that the
	 * database does not have. If the text is JSON, the result means the same.
	 */
	String escaped(String text) {
		if (this.charset == null) {
			return text;
		}
		CharsetEncoder encoder = this.charset.newEncoder();
		if (encoder.canEncode(text)) {
			return text;
		}
		StringBuilder escaped = new StringBuilder();
		for (char c : text.toCharArray()) {
			escaped.append(encoder.canEncode(c) ? String.valueOf(c) : "\\u%04x".formatted((int) c));
		}
		return escaped.toString();
	}

	/**
	 * How many bytes a payload may take in its column if the text has so many.
	 */
	long storedBytes(long bytes) {
		// An escape takes six bytes, and stands for a character of at least two.
		return (this.charset != null && bytes <= Long.MAX_VALUE / 3) ? bytes * 3 : bytes;
	}

}
