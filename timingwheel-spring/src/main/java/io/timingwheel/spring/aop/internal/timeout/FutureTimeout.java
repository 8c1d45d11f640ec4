package io.timingwheel.spring.aop.internal.timeout;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

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

	static Object limit(Object returned, InterruptGuard guard) {
		TimeLimit limit = guard.call().limit();
		if (returned instanceof CompletionStage<?> stage && limit.mayReturn(CompletableFuture.class)) {
			return newStage(stage, guard);
		}
		// The handle of a durable task does not show its end.
		if (!(returned instanceof Future<?> future) || !limit.mayReturn(LimitedFuture.class) || future.isDone()
				|| !FutureCompletion.showsResult(future)) {
			return returned;
		}
		LimitedFuture<?> result = new LimitedFuture<>(future, guard);
		return guard.handOver(expiry(guard.call(), result.afterDeadline, result::end)) ? result : returned;
	}

	/** The usual case. Cancelling the result cancels the source. */
	private static <T> Object newStage(CompletionStage<T> source, InterruptGuard guard) {
		if (source.getClass() == CompletableFuture.class && ((CompletableFuture<T>) source).isDone()) {
			return source;
		}
		CompletableFuture<T> result = new CompletableFuture<>();
		Runnable expiry = expiry(guard.call(), result, () -> {
			cancel(source);
			return true;
		});
		if (!guard.handOver(expiry)) {
			return source;
		}
		result.whenComplete((value, failure) -> {
			// Here the action is left only if the caller has completed the result.
			if (guard.cancelAction() && result.isCancelled()) {
				cancel(source);
			}
		});
		source.whenComplete((value, failure) -> {
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

	/**
	 * What the deadline of a call does, on an executor: ends the source, and completes
	 * the result with what the caller gets after the deadline.
	 * @param end ends the source; gives {@code false} if it is done
	 */
	private static <T> Runnable expiry(LimitedCall call, CompletableFuture<T> result, BooleanSupplier end) {
		Callable<@Nullable Object> afterDeadline = call.afterDeadline();
		Executor executor = call.runtime().executor();
		return () -> executor.execute(() -> {
			if (end.getAsBoolean()) {
				call.notifyListeners();
				complete(result, afterDeadline, executor);
			}
		});
	}

	/** The fallback's result is cancelled if the caller cancels. */
	@SuppressWarnings("unchecked")
	private static <T> void complete(CompletableFuture<T> result, Callable<@Nullable Object> afterDeadline,
			Executor executor) {
		Object value;
		try {
			value = afterDeadline.call();
		}
		catch (Throwable ex) {
			result.completeExceptionally(ex);
			return;
		}
		if (!FutureCompletion.whenDone(value, executor, (outcome, failure) -> complete(result, (T) outcome, failure))) {
			result.complete((T) value);
		}
		result.whenComplete((outcome, failure) -> {
			if (result.isCancelled()) {
				cancel(value);
			}
		});
	}

	private static <T> void complete(CompletableFuture<T> result, T value, @Nullable Throwable failure) {
		if (failure != null) {
			result.completeExceptionally(failure);
		}
		else {
			result.complete(value);
		}
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

	/**
	 * In place of a plain {@code Future}, which has no callbacks. The timer is cancelled
	 * at the first call after the source is done; else it has no effect.
	 */
	private static final class LimitedFuture<T> implements Future<T> {

		private final Future<T> source;

		private final InterruptGuard guard;

		private final CompletableFuture<T> afterDeadline = new CompletableFuture<>();

		/** Whether the deadline has come before the source was done. */
		private volatile boolean expired;

		LimitedFuture(Future<T> source, InterruptGuard guard) {
			this.source = source;
			this.guard = guard;
		}

		boolean end() {
			// Before the source wakes up those who wait for it.
			this.expired = !this.source.isDone();
			return this.expired && (this.source.cancel(true) || this.source.isCancelled());
		}

		/**
		 * Where the caller gets the result: the source, unless the deadline has ended it.
		 */
		private Future<T> current() {
			if (this.source.isDone()) {
				this.guard.cancelAction();
			}
			return (this.expired && this.source.isCancelled()) ? this.afterDeadline : this.source;
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.guard.cancelAction();
			return current().cancel(mayInterruptIfRunning);
		}

		@Override
		public boolean isCancelled() {
			return current().isCancelled();
		}

		@Override
		public boolean isDone() {
			return current().isDone();
		}

		@Override
		public T get() throws InterruptedException, ExecutionException {
			try {
				this.source.get();
			}
			catch (CancellationException | ExecutionException ex) {
				// The current future throws it again, or has another result.
			}
			return current().get();
		}

		@Override
		public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
			long end = System.nanoTime() + unit.toNanos(timeout);
			try {
				this.source.get(timeout, unit);
			}
			catch (CancellationException | ExecutionException ex) {
				// As above.
			}
			return current().get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
		}

	}

}
