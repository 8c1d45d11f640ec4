package io.timingwheel;

import java.util.concurrent.Executor;

/**
 * A task that names the executor which it is handed over to, in place of the wheel's.
 */
public interface RoutedTask extends Runnable {

	/**
	 * Where to run. Called on the wheel's thread at each hand-over; has to return
	 * promptly, as does the executor's {@code execute}. What either throws counts as a
	 * refusal: the timer is pending again and is tried later.
	 * @return the executor of this task
	 */
	Executor executor();

}
