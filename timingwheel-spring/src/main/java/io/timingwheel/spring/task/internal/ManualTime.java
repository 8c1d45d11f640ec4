package io.timingwheel.spring.task.internal;

import java.time.Clock;
import java.time.Instant;

import io.timingwheel.ManualTimeSource;

/**
 * The time of an application whose time a test moves. If there is a bean of this type,
 * the wheel and the tasks go by it, and the thread that moves the time runs the bodies.
 * Thread-safe.
 *
 * @since 0.1
 */
public interface ManualTime {

	/**
	 * The clock of the wheel.
	 * @return the clock, always the same object
	 */
	ManualTimeSource timeSource();

	/**
	 * The wall clock.
	 * @return a clock that goes on only when the clock of the wheel does
	 */
	Clock clock();

	/**
	 * Checks that the current thread may wait for a task that has not ended.
	 * @param task the name of the task
	 * @param dueAt when the task is due, by the wall clock
	 * @throws IllegalStateException if the time goes on only when this thread moves it
	 */
	void checkWait(String task, Instant dueAt);

	/**
	 * Records that a task has failed.
	 * @param task the name of the task
	 * @param error what its body has thrown
	 */
	void failed(String task, Throwable error);

}
