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
	 * calls this method at each hand-over. The method must return promptly, and so must
	 * the executor's {@code execute}. If one of them throws before the task has begun,
	 * the executor counts as refusing: the timer is pending again, and the wheel hands it
	 * over again later. If this method throws, tasks of the same class wait together,
	 * otherwise tasks of the same executor do. Two executors are the same if they are the
	 * same object.
	 * @return the executor of this task, never {@code null}
	 */
	Executor executor();

}
