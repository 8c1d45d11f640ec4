package io.timingwheel.spring.actuate;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The path of a name, or of a task below its name. A key may contain slashes, at which a
 * server splits the path. A name contains none: it is the first segment.
 *
 * @param name the name
 * @param keyOrId the key or id of the task, {@code null} if the whole path is a name
 */
record TaskPath(String name, @Nullable String keyOrId) {

	/**
	 * Reads a path.
	 * @param segments the segments of the path
	 * @return the path; its name is empty if there is no segment
	 */
	static TaskPath of(String... segments) {
		if (segments.length < 2) {
			return new TaskPath(String.join("", segments), null);
		}
		return new TaskPath(segments[0], String.join("/", Arrays.asList(segments).subList(1, segments.length)));
	}

}
