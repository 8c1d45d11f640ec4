package io.timingwheel;

import java.util.concurrent.Executor;

/**
 * A task that the wheel hands over to an executor of its own, not to the wheel's.
 *
 * @since 0.1
 */
public interface RoutedTask extends Runnable {

	/**
	 * Returns the executor to which the wheel hands this task over. The wheel's thread
	 * calls this method at each hand-over, and then {@link #handOver}. Both must return
	 * promptly. If one of them throws before the task has begun, the timer is pending
	 * again, and waits with the other tasks of the same executor object; if this method
	 * throws, with the other tasks for which it does. Never returns {@code null}.
	 */
	Executor executor();

	/**
	 * Hands this task over, by default with {@code execute}. A task may do so in another
	 * way, for example through a queue of its own.
	 * @param executor the executor that {@link #executor()} has returned
	 * @param timer what the executor has to run
	 * @return {@code false} if somebody else has taken the task, so that this hand-over
	 * does not show whether the executor accepts tasks
	 */
	default boolean handOver(Executor executor, Runnable timer) {
		executor.execute(timer);
		return true;
	}

}
