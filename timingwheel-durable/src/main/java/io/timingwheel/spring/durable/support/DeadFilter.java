package io.timingwheel.spring.durable.support;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * Which dead tasks of a name an operator means: all, those whose errors contain a text,
 * or exactly those of one group.
 *
 * @since 0.1
 */
public final class DeadFilter {

	/** All dead tasks. */
	public static final DeadFilter ALL = new DeadFilter(null, null);

	private static final int GROUP_BYTES = 16;

	private static final Pattern GROUP = Pattern.compile("[0-9a-f]{" + 2 * GROUP_BYTES + "}");

	private final @Nullable String text;

	private final @Nullable String group;

	private DeadFilter(@Nullable String text, @Nullable String group) {
		this.text = text;
		this.group = group;
	}

	/**
	 * The tasks whose errors contain a text.
	 * @param text the text; case matters
	 * @return the filter
	 */
	public static DeadFilter containing(String text) {
		return new DeadFilter(text, null);
	}

	/**
	 * The tasks of one group, and no others.
	 * @param group {@link DeadByError.Group#group()}
	 * @return the filter
	 * @throws IllegalArgumentException if this is no id of a group
	 */
	public static DeadFilter inGroup(String group) {
		if (!GROUP.matcher(group).matches()) {
			throw new IllegalArgumentException(
					"The group \"%s\" is not one of an earlier reply: read the groups again".formatted(group));
		}
		return new DeadFilter(null, group);
	}

	/**
	 * The id of the group of an error. All nodes give an error the same id. The id does
	 * not show the error, but who can guess the error can check the guess.
	 * @param error the error, {@code null} for none
	 * @return the id
	 */
	static String groupOf(@Nullable String error) {
		byte[] text = DeadByError.beginOf(Objects.requireNonNullElse(error, "")).getBytes(StandardCharsets.UTF_8);
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(text);
			return HexFormat.of().formatHex(Arrays.copyOf(hash, GROUP_BYTES));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Each Java platform has SHA-256", ex);
		}
	}

	boolean matches(@Nullable String error) {
		if (this.group != null) {
			return this.group.equals(groupOf(error));
		}
		return this.text == null || (error != null && error.contains(this.text));
	}

}
