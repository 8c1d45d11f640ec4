package io.timingwheel.spring.durable.store;

import io.timingwheel.spring.task.TaskId;

/**
 * The task that a call is about.
 *
 * @since 0.1
 */
public sealed interface Target {

	static Target of(String id) {
		return new ById(id);
	}

	static Target of(TaskId taskId, Kind kind) {
		return new ByKey(taskId, kind);
	}

	record ById(String id) implements Target {

	}

	record ByKey(TaskId taskId, Kind kind) implements Target {

	}

	/**
	 * Which task a key means. A task that runs once and a schedule may have the same name
	 * and key.
	 */
	enum Kind {

		/** The pending task that runs once. */
		ONCE,

		/** The schedule, whose task may be pending or running. */
		SCHEDULE,

		/** The pending task that runs once or, if there is none, the schedule. */
		EITHER

	}

}
