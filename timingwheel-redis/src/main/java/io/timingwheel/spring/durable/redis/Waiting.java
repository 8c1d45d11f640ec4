package io.timingwheel.spring.durable.redis;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/**
 * Whether an interrupt ends the wait of a thread for Redis.
 */
enum Waiting {

	/** The thread waits only for its own call. An interrupt ends the wait. */
	ALONE,

	/**
	 * The thread waits for the calls of other threads too. An interrupt does not end the
	 * wait. The thread is interrupted after the wait.
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
	 * A wait with a deadline. After an interrupt, a second call waits for the rest of the
	 * time.
	 */
	interface Wait<T> {

		T run() throws InterruptedException, ExecutionException, TimeoutException;

	}

}
