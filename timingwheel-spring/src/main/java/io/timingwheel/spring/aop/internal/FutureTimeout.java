package io.timingwheel.spring.aop.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

import io.timingwheel.spring.task.internal.FutureCompletion;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Limits the time of a future that a method returned before the future was done. The
 * deadline still counts from the call. Below, "source" is the future that the method
 * returned, and "result" is what the caller gets.
 */
final class FutureTimeout {

	private static final Log logger = LogFactory.getLog(FutureTimeout.class);

	private FutureTimeout() {
	}

	/** Cancelling the result cancels the source. */
	static Object limit(Object source, InterruptGuard guard) {
		boolean isDone = (source.getClass() == CompletableFuture.class) ? ((CompletableFuture<?>) source).isDone()
				: isPlainAndDone(source);
		// The handle of a durable task does not show its end.
		if (isDone || (source instanceof Future<?> future && !FutureCompletion.showsResult(future))) {
			return source;
		}
		CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
		Executor executor = guard.call.runtime().executor();
		Runnable expiry = expiry(source, result, guard.call);
		if (!guard.handOver(expiry)) {
			return source;
		}
		result.whenComplete((value, failure) -> {
			// Here the action is left only if the caller has completed the result.
			if (guard.cancelAction() && result.isCancelled()) {
				cancel(source);
			}
		});
		FutureCompletion.whenDone(source, executor, () -> !result.isDone(), (value, failure) -> {
			if (guard.cancelAction()) {
				if (guard.isPastDeadline()) {
					expiry.run();
				}
				else {
					complete(result, value, failure);
				}
			}
		});
		return result;
	}

	private static boolean isPlainAndDone(Object source) {
		return !(source instanceof CompletionStage<?>) && ((Future<?>) source).isDone();
	}

	/**
	 * What the deadline of a call does, on an executor: cancels the source, and completes
	 * the result with what the caller gets after the deadline. A plain future that is
	 * done was in time, but has not been looked at since.
	 */
	private static Runnable expiry(Object source, CompletableFuture<@Nullable Object> result, LimitedCall call) {
		Callable<@Nullable Object> afterDeadline = call.afterDeadline();
		Executor executor = call.runtime().executor();
		return () -> executor.execute(() -> {
			if (isPlainAndDone(source)) {
				complete(result, source, executor);
				return;
			}
			cancel(source);
			call.notifyListeners();
			try {
				complete(result, afterDeadline.call(), executor);
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
	}

	/** The outcome, such as the result of the fallback, is cancelled with the result. */
	private static void complete(CompletableFuture<@Nullable Object> result, @Nullable Object outcome,
			Executor executor) {
		if (!FutureCompletion.whenDone(outcome, executor, (value, failure) -> complete(result, value, failure))) {
			result.complete(outcome);
		}
		result.whenComplete((value, failure) -> {
			if (result.isCancelled()) {
				cancel(outcome);
			}
		});
	}

	private static boolean complete(CompletableFuture<@Nullable Object> result, @Nullable Object value,
			@Nullable Throwable failure) {
		return (failure != null) ? result.completeExceptionally(failure) : result.complete(value);
	}

	static void cancel(@Nullable Object returned) {
		try {
			if (returned instanceof Future<?> future) {
				future.cancel(true);
			}
			else if (returned instanceof CompletionStage<?> stage) {
				stage.toCompletableFuture().cancel(true);
			}
		}
		catch (Throwable ex) {
			// A minimal stage cannot be cancelled, and another class may be that of the
			// application.
			logger.debug("A future could not be cancelled at the deadline of its call", ex);
		}
	}

}
