package io.timingwheel.spring.task.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/** Waits for futures that have no callbacks, without blocking a thread. */
public final class FutureCompletion {

	private static final long MAX_POLL_MILLIS = 100;

	private FutureCompletion() {
	}

	/** Whether a future shows its result. The handle of a durable task does not. */
	public static boolean showsResult(Future<?> future) {
		if (future instanceof DelayedTask<?> task) {
			try {
				task.completion();
			}
			catch (UnsupportedOperationException ex) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Calls back when a future or stage is done: at once, or at most 100 ms later on the
	 * executor if it has no callbacks of its own.
	 * @return {@code false} for another object, which is not called back for
	 */
	public static boolean whenDone(@Nullable Object result, Executor executor,
			BiConsumer<? super @Nullable Object, ? super @Nullable Throwable> callback) {
		return whenDone(result, executor, () -> true, callback);
	}

	/**
	 * Does the same, but looks no longer at a future without callbacks of its own when
	 * the answer is no longer wanted.
	 * @param isWanted asked before each look
	 */
	public static boolean whenDone(@Nullable Object result, Executor executor, BooleanSupplier isWanted,
			BiConsumer<? super @Nullable Object, ? super @Nullable Throwable> callback) {
		if (result instanceof CompletionStage<?> stage) {
			stage.whenComplete(callback);
		}
		else if (result instanceof Future<?> future && showsResult(future)) {
			poll(future, executor, isWanted, callback, 1);
		}
		else if (result instanceof Future<?>) {
			callback.accept(null, null);
		}
		else {
			return false;
		}
		return true;
	}

	public static @Nullable Throwable unwrapped(@Nullable Throwable error) {
		return (error instanceof CompletionException && error.getCause() != null) ? error.getCause() : error;
	}

	public static <T extends @Nullable Object> T result(Future<T> future) throws Exception {
		try {
			return future.get();
		}
		catch (ExecutionException ex) {
			ReflectionUtils.rethrowException((ex.getCause() != null) ? ex.getCause() : ex);
			throw ex;
		}
	}

	private static void poll(Future<?> future, Executor executor, BooleanSupplier isWanted,
			BiConsumer<? super @Nullable Object, ? super @Nullable Throwable> callback, long pollMillis) {
		if (!isWanted.getAsBoolean()) {
			return;
		}
		Object result = null;
		Throwable error = null;
		// The class of the future belongs to the application, so any method may throw.
		try {
			if (!future.isDone()) {
				long next = Math.min(2 * pollMillis, MAX_POLL_MILLIS);
				CompletableFuture.delayedExecutor(pollMillis, TimeUnit.MILLISECONDS, executor)
					.execute(() -> poll(future, executor, isWanted, callback, next));
				return;
			}
			result = result(future);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			error = ex;
		}
		catch (Throwable ex) {
			error = ex;
		}
		callback.accept(result, error);
	}

}
