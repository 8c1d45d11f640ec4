package io.timingwheel.spring.task.memory;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * A task in memory that has not begun, as it was at one moment. Times are by the wall
 * clock. Immutable.
 *
 * @param id identifies this one scheduling; never reused
 * @param schedule the text of its schedule, {@code null} for none
 * @param next when its next regular run is due; {@code null} without a schedule, or if
 * this depends on the end of the present run
 */
public record PendingTaskSnapshot(String id, String name, @Nullable String key, Instant dueAt,
		@Nullable String schedule, @Nullable Instant next) {

	public Position position() {
		return new Position(this.dueAt, this.id);
	}

	/**
	 * A place in the order in which tasks are due. The ids order the tasks that are due
	 * at the same time. A position stays valid when its task is gone.
	 */
	public record Position(Instant dueAt, String id) {

	}

}
