package io.timingwheel.spring.actuate;

import java.util.List;
import java.util.function.Predicate;

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
	 * @param segments the segments of the path
	 * @param known whether there is such a name
	 * @return the path; its name is empty if there is no segment
	 */
	static TaskPath of(List<String> segments, Predicate<String> known) {
		int unencoded = (int) segments.stream().takeWhile((segment) -> !segment.contains("/")).count();
		for (int length = unencoded; length > 1; length--) {
			if (known.test(join(segments.subList(0, length)))) {
				return split(segments, length);
			}
		}
		return split(segments, Math.min(1, segments.size()));
	}

	private static TaskPath split(List<String> segments, int length) {
		List<String> remaining = segments.subList(length, segments.size());
		return new TaskPath(join(segments.subList(0, length)), remaining.isEmpty() ? null : join(remaining));
	}

	private static String join(List<String> segments) {
		return String.join("/", segments);
	}

}
