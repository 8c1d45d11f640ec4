package io.timingwheel.spring.task.internal;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;

/**
 * Waits for futures that have no callbacks, without blocking a thread.
 *
 * @since 0.1
 */
public final class FutureCompletion {

	private static final long MAX_POLL_MILLIS = 100;

	private FutureCompletion() {
	}

	/**
	 * Whether a future shows its result. The handle of a durable task does not, since the
	 * node that runs the task does not tell the others.
	 * @param future the future
	 * @return whether it makes sense to wait for the future
	 */
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
	 * Calls back when a future is done. If the future is done already, or
	 * {@linkplain #showsResult shows no result}, the current thread calls back at once.
	 * Otherwise the executor calls back, at most 100 ms after the future is done.
	 * @param future the future
	 * @param executor checks whether the future is done, and calls back; must not reject
	 * tasks
	 * @param callback takes the result, or else the exception
	 */
	public static void whenDone(Future<?> future, Executor executor,
			BiConsumer<? super @Nullable Object, ? super @Nullable Throwable> callback) {
		if (showsResult(future)) {
			poll(future, executor, callback, 1);
		}
		else {
			callback.accept(null, null);
		}
	}

	/**
	 * Calls back when a stage is complete. If the stage throws instead of taking the
	 * callback, the current thread calls back at once with that exception.
	 * @param stage the stage
	 * @param callback takes the result, or else the exception; called once
	 */
	public static void whenDone(CompletionStage<?> stage,
			BiConsumer<? super @Nullable Object, ? super @Nullable Throwable> callback) {
		if (stage.getClass() == CompletableFuture.class) {
			stage.whenComplete(callback);
			return;
		}
		// The class of the stage may belong to the application.
		AtomicBoolean called = new AtomicBoolean();
		BiConsumer<@Nullable Object, @Nullable Throwable> once = (result, error) -> {
			if (called.compareAndSet(false, true)) {
				callback.accept(result, error);
			}
		};
		try {
			stage.whenComplete(once);
		}
		catch (Throwable ex) {
			once.accept(null, ex);
		}
	}

	/**
	 * The exception of a future, without the {@link CompletionException} in which a stage
	 * passes the exception on.
	 * @param error what a callback of a future got; {@code null} for no exception
	 * @return the exception itself
	 */
	public static @Nullable Throwable unwrapped(@Nullable Throwable error) {
		if (!(error instanceof CompletionException)) {
			return error;
		}
		try {
			Throwable cause = error.getCause();
			return (cause != null) ? cause : error;
		}
		catch (Throwable ex) {
			// A subclass of the application.
			return error;
		}
	}

	/**
	 * The result of a future that is done.
	 * @param future the future
	 * @param <T> the type of the result
	 * @return the result
	 * @throws Exception the exception of the future itself
	 */
	public static <T extends @Nullable Object> T result(Future<T> future) throws Exception {
		try {
			return future.get();
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof Exception cause) {
				throw cause;
			}
			if (ex.getCause() instanceof Error cause) {
				throw cause;
			}
			throw ex;
		}
	}

	private static void poll(Future<?> future, Executor executor,
			BiConsumer<? super @Nullable Object, ? super @Nullable Throwable> callback, long pollMillis) {
		Object result = null;
		Throwable error = null;
		try {
			if (!future.isDone()) {
				CompletableFuture.delayedExecutor(pollMillis, TimeUnit.MILLISECONDS, executor)
					.execute(() -> poll(future, executor, callback, Math.min(2 * pollMillis, MAX_POLL_MILLIS)));
				return;
			}
			result = future.get();
		}
		catch (ExecutionException ex) {
			error = (ex.getCause() != null) ? ex.getCause() : ex;
		}
		catch (CancellationException ex) {
			error = ex;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			error = ex;
		}
		catch (Throwable ex) {
			// The class of the future belongs to the application.
			error = ex;
		}
		callback.accept(result, error);
	}

}
