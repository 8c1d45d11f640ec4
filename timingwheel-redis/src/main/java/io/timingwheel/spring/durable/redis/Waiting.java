package io.timingwheel.spring.durable.redis;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waits that end with a deadline, and not with an interrupt. The thread is interrupted
 * after the wait.
 */
final class Waiting {

	private Waiting() {
	}

	/**
	 * Waits for a reply of Redis. After the deadline the command is cancelled.
	 * @param deadline as {@link System#nanoTime()} gives it
	 * @throws RuntimeException if there is no reply, or an error
	 */
	static <T> T until(long deadline, Future<T> reply) {
		return uninterruptibly(() -> {
			try {
				return reply.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException ex) {
				reply.cancel(true);
				throw ex;
			}
		});
	}

	/**
	 * Calls a method that waits with a deadline, and calls it again after an interrupt.
	 * @throws RuntimeException the exception of the call, as Spring translates it
	 */
	static <T> T uninterruptibly(Callable<T> wait) {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return wait.call();
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
				catch (ExecutionException ex) {
					throw RedisErrors.translated((ex.getCause() instanceof Exception cause) ? cause : ex);
				}
				catch (Exception ex) {
					throw RedisErrors.translated(ex);
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
