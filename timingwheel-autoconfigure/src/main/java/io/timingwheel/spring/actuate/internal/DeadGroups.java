package io.timingwheel.spring.actuate.internal;

import java.time.Instant;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Dead tasks of a name, grouped by their errors, the group with the latest death first;
 * how many are in the groups, whether these are all, and where earlier deaths follow.
 */
public record DeadGroups(List<Group> groups, int examined, boolean complete, @Nullable String cursor) {

	/** How many groups there are at most. */
	public static final int MAX_GROUPS = 100;

	/** How many characters of an error count. */
	public static final int MAX_ERROR = 250;

	/**
	 * The first {@link #MAX_ERROR} characters of an error, by which dead tasks are
	 * grouped, without half of a character.
	 */
	public static String beginOf(String error) {
		if (error.length() <= MAX_ERROR) {
			return error;
		}
		return error.substring(0, Character.isHighSurrogate(error.charAt(MAX_ERROR - 1)) ? MAX_ERROR - 1 : MAX_ERROR);
	}

	/**
	 * Dead tasks whose errors begin with the same {@link #MAX_ERROR} characters, empty
	 * for no error, and the id of the one that died last. The id of the group depends on
	 * the error only, and does not show it. The endpoint shows less of an error that
	 * takes more than 700 bytes of JSON.
	 */
	public record Group(String error, String group, int count, Instant first, Instant last, String id) {

		/** The group with what is shown of its error. */
		public Group withError(String shown) {
			return new Group(shown, this.group, this.count, this.first, this.last, this.id);
		}

	}

}
