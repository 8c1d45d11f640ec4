package io.timingwheel;

import java.util.concurrent.Executor;

/**
 * A task with its own executor. The wheel hands the task over to this executor and not to
 * the wheel's executor.
 *
 * @since 0.1
 */
public interface RoutedTask extends Runnable {

	/**
	 * Returns the executor to which the wheel hands this task over. The wheel's thread
	 * calls this method at each hand-over, and then {@link #handOver}. Both must return
	 * promptly. If one of them throws before the task has begun, the executor counts as
	 * refusing: the timer is pending again, and the wheel hands it over again later. If
	 * this method throws, tasks of the same class wait together, otherwise tasks of the
	 * same executor do. Two executors are the same if they are the same object.
	 * @return the executor of this task, never {@code null}
	 */
	Executor executor();

	/**
	 * Hands this task over to its executor, by default with {@code execute}. A task may
	 * do this in another way, for example through a queue of its own, and still waits
	 * with the other tasks of the executor if the executor refuses.
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
