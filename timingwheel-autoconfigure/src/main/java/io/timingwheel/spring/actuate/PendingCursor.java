package io.timingwheel.spring.actuate;

import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint.TaskDescriptor;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.support.PendingTaskSnapshot;

import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;

/**
 * Where a page of pending tasks begins: after the last task of the page before. The text
 * has the due time of this task in seconds and nanoseconds since the epoch, and its id.
 *
 * @param dueAt when the task was due
 * @param id its id
 */
record PendingCursor(Instant dueAt, String id) {

	private static final Pattern PATTERN = Pattern.compile("(-?\\d{1,15})\\.(\\d{1,9})-(.{1,100})");

	/**
	 * Reads a text.
	 * @throws InvalidEndpointRequestException if it is none
	 */
	static PendingCursor parse(String text) {
		Matcher matcher = PATTERN.matcher(text);
		if (!matcher.matches()) {
			throw DelayedTasksEndpoint.invalid(
					"The cursor \"%s\" is not one of an earlier reply: leave it out to begin anew".formatted(text));
		}
		Instant dueAt = Instant.ofEpochSecond(Long.parseLong(matcher.group(1)), Long.parseLong(matcher.group(2)));
		return new PendingCursor(dueAt, matcher.group(3));
	}

	static PendingCursor of(TaskDescriptor task) {
		return new PendingCursor(task.dueAt(), task.id());
	}

	/**
	 * The position among tasks in memory.
	 */
	PendingTaskSnapshot.Position inMemory() {
		return new PendingTaskSnapshot.Position(this.dueAt, this.id);
	}

	/**
	 * The position among stored tasks.
	 */
	StoredTasks.Position inStore() {
		return new StoredTasks.Position(this.dueAt, this.id);
	}

	@Override
	public String toString() {
		return this.dueAt.getEpochSecond() + "." + this.dueAt.getNano() + "-" + this.id;
	}

}
