package io.timingwheel.spring.durable.redis;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Whether an interrupt ends the wait of a thread for Redis.
 */
enum Waiting {

	/** The thread waits for itself. An interrupt ends the wait. */
	ALONE,

	/**
	 * The thread waits for other threads too. An interrupt ends the wait of none of them:
	 * the thread waits on, and is interrupted afterwards.
	 */
	FOR_OTHERS;

	<T> T call(Wait<T> wait) throws InterruptedException, ExecutionException, TimeoutException {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return wait.run();
				}
				catch (InterruptedException ex) {
					if (this == ALONE) {
						throw ex;
					}
					interrupted = true;
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Waits up to some time. A second call waits for the rest of it.
	 */
	interface Wait<T> {

		T run() throws InterruptedException, ExecutionException, TimeoutException;

	}

}
