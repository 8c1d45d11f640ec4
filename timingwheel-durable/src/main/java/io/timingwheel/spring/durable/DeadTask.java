package io.timingwheel.spring.durable;

import org.jspecify.annotations.Nullable;

/**
 * A dead task, without its arguments.
 *
 * @param id its id
 * @param diedAt when it died, in milliseconds since the epoch
 * @param error why it is dead, {@code null} for no reason
 * @since 0.1
 */
public record DeadTask(String id, long diedAt, @Nullable String error) {

	/**
	 * The place of this task among the dead tasks of its name.
	 * @return its position
	 */
	public Position position() {
		return new Position(this.diedAt, this.id);
	}

	/**
	 * A place in the order in which tasks have died. The id orders the tasks that died in
	 * the same millisecond. A position stays valid when its task is gone.
	 *
	 * @param diedAt when the task died, in milliseconds since the epoch
	 * @param id the id of the task
	 * @since 0.1
	 */
	public record Position(long diedAt, String id) {

	}

}
