package io.timingwheel.spring.actuate;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The path of a name, or of a task below its name. Names and keys may contain slashes, at
 * which a server splits the path. The name is the longest known name at the beginning of
 * the path, or else the first segment. A slash that was encoded, as {@code %2F}, is
 * inside of a segment and therefore not at the end of the name.
 *
 * @param name the name
 * @param keyOrId the key or id of the task, {@code null} if the whole path is a name
 */
record TaskPath(String name, @Nullable String keyOrId) {

	/**
	 * Reads a path.
	 * @param first the first segment
	 * @param remaining the segments after the first one
	 * @param known whether there is such a name
	 * @return the path
	 */
	static TaskPath of(String first, String[] remaining, Predicate<String> known) {
		List<String> segments = Stream.concat(Stream.of(first), Arrays.stream(remaining)).toList();
		int unencoded = (int) segments.stream().takeWhile((segment) -> !segment.contains("/")).count();
		for (int length = unencoded; length > 1; length--) {
			String name = join(segments.subList(0, length));
			if (known.test(name)) {
				return of(name, segments.subList(length, segments.size()));
			}
		}
		return of(first, segments.subList(1, segments.size()));
	}

	private static TaskPath of(String name, List<String> remaining) {
		return new TaskPath(name, remaining.isEmpty() ? null : join(remaining));
	}

	private static String join(List<String> segments) {
		return String.join("/", segments);
	}

}
