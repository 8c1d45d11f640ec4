package io.timingwheel.spring.durable.admin;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.durable.store.StoredTask.Position;
import org.jspecify.annotations.Nullable;

/**
 * Where the next call among the dead tasks of a name goes on.
 *
 * @param until tasks that died later are left alone
 * @param after the last task that was looked at, {@code null} for none
 */
record DeadCursor(long until, @Nullable Position after) {

	private static final Pattern PATTERN = Pattern.compile("(\\d{1,18})-(?:(\\d{1,18})-(.{1,100}))?");

	static DeadCursor parse(String text) {
		Matcher matcher = PATTERN.matcher(text);
		if (!matcher.matches()) {
			throw new IllegalArgumentException(
					"The cursor \"%s\" is not one of an earlier reply: leave it out to begin anew".formatted(text));
		}
		Position after = (matcher.group(2) != null) ? new Position(Long.parseLong(matcher.group(2)), matcher.group(3))
				: null;
		return new DeadCursor(Long.parseLong(matcher.group(1)), after);
	}

	DeadCursor after(Position position) {
		return new DeadCursor(this.until, position);
	}

	@Override
	public String toString() {
		String text = this.until + "-";
		return (this.after != null) ? text + this.after.time() + "-" + this.after.id() : text;
	}

}
