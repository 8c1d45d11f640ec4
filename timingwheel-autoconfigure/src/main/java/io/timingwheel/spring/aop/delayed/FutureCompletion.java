package io.timingwheel.spring.aop.delayed;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Waits, without a thread, for futures that cannot call anybody.
 */
final class FutureCompletion {

	private static final long MAX_POLL_MILLIS = 100;

	private FutureCompletion() {
	}

	/**
	 * Calls back soon after a future has completed normally.
	 */
	static void onSuccess(Future<?> future, Runnable callback) {
		poll(future, callback, 1);
	}

	private static void poll(Future<?> future, Runnable callback, long pollMillis) {
		if (!future.isDone()) {
			CompletableFuture.delayedExecutor(pollMillis, TimeUnit.MILLISECONDS)
				.execute(() -> poll(future, callback, Math.min(2 * pollMillis, MAX_POLL_MILLIS)));
			return;
		}
		if (isSuccess(future)) {
			callback.run();
		}
	}

	private static boolean isSuccess(Future<?> future) {
		try {
			future.get();
			return true;
		}
		catch (ExecutionException | CancellationException ex) {
			return false;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
