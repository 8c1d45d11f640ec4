package io.timingwheel.spring.durable.support;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.TaskRef;
import org.jspecify.annotations.Nullable;

/**
 * What the store is to know of a task that this node held.
 *
 * @param run the task
 * @param kind what has become of it
 * @param retry of a failed one, when and how it is tried again
 * @param burial of a dead one, why it is given up
 */
record Settlement(DurableRun run, Kind kind, @Nullable Retry retry, @Nullable Burial burial) {

	static Settlement of(DurableRun run, Kind kind) {
		return new Settlement(run, kind, null, null);
	}

	TaskRef ref() {
		return this.run.ref();
	}

	enum Kind {

		COMPLETED, EXPIRED, RETRY, DEAD, RELEASED, CUT_OFF

	}

}
