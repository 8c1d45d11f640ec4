package io.timingwheel.spring.durable.support;

import java.util.function.IntPredicate;

/**
 * Texts in a form that a store can take.
 *
 * @since 0.1
 */
public final class StorableText {

	private static final int ASCII = 0x80;

	private StorableText() {
	}

	/**
	 * Replaces the characters that some stores refuse, and some change: NUL, and halves
	 * of surrogate pairs.
	 * @param text any text
	 * @param maxLength how many characters the result may have
	 * @return the text, or its beginning
	 */
	static String clean(String text, int maxLength) {
		StringBuilder clean = new StringBuilder();
		text.codePoints()
			.map((c) -> (c == 0) ? ' ' : isSurrogate(c) ? '\ufffd' : c)
			.takeWhile((c) -> clean.length() + Character.charCount(c) <= maxLength)
			.forEach(clean::appendCodePoint);
		return clean.toString();
	}

	private static boolean isSurrogate(int codePoint) {
		return codePoint <= Character.MAX_VALUE && Character.isSurrogate((char) codePoint);
	}

	/**
	 * Writes all characters outside of ASCII as escapes.
	 * @param text any text
	 * @param maxLength how many characters the result may have
	 * @return the text, or its beginning
	 */
	static String ascii(String text, int maxLength) {
		String escaped = escaped(text, (c) -> c < ASCII);
		return escaped.substring(0, Math.min(escaped.length(), maxLength));
	}

	/**
	 * Writes characters as the escapes of JSON and Java, such as <code>&#92;u2192</code>.
	 * @param text any text; if it is JSON, the result means the same
	 * @param kept tells for a character of the text whether it stays as it is
	 * @return the text
	 */
	public static String escaped(String text, IntPredicate kept) {
		if (text.chars().allMatch(kept)) {
			return text;
		}
		StringBuilder escaped = new StringBuilder();
		text.chars().forEach((c) -> {
			if (kept.test(c)) {
				escaped.append((char) c);
			}
			else {
				escaped.append("\\u%04x".formatted(c));
			}
		});
		return escaped.toString();
	}

}
