package io.timingwheel.spring.task.internal;

import java.time.Clock;
import java.time.Instant;

import io.timingwheel.ManualTimeSource;

/**
 * The time of an application whose time a test moves. If there is a bean of this type,
 * the wheel and the tasks go by it, and the thread that moves the time runs the bodies.
 * Thread-safe.
 */
public interface ManualTime {

	ManualTimeSource timeSource();

	Clock clock();

	/** Checks that the current thread may wait for a task that has not ended. */
	void checkWait(String task, Instant dueAt);

	void failed(Throwable error);

}
