package io.timingwheel.spring.durable.admin;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import org.jspecify.annotations.Nullable;

/** Finds dead tasks by their errors. */
final class DeadFilter {

	private static final int GROUP_BYTES = 16;

	private static final Pattern GROUP = Pattern.compile("[0-9a-f]{" + 2 * GROUP_BYTES + "}");

	private DeadFilter() {
	}

	/**
	 * @throws IllegalArgumentException if the selection has no id of a group
	 */
	static Predicate<@Nullable String> of(DeadSelection which) {
		String group = which.group();
		if (group != null) {
			if (!GROUP.matcher(group).matches()) {
				throw new IllegalArgumentException(
						"The group \"%s\" is not one of an earlier reply: read the groups again".formatted(group));
			}
			return (error) -> group.equals(groupOf(error));
		}
		String text = which.text();
		return (error) -> text == null || (error != null && error.contains(text));
	}

	/**
	 * The same on all nodes. Does not show the error, but who can guess it can check the
	 * guess.
	 */
	static String groupOf(@Nullable String error) {
		byte[] text = DeadGroups.beginOf(Objects.requireNonNullElse(error, "")).getBytes(StandardCharsets.UTF_8);
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(text);
			return HexFormat.of().formatHex(Arrays.copyOf(hash, GROUP_BYTES));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Each Java platform has SHA-256", ex);
		}
	}

}
