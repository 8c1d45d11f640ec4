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
		if (returned instanceof CompletionStage<?> stage) {
			if (isDone(stage)) {
				return returned;
			}
			if (limit.mayReturn(CompletableFuture.class) && (!limit.returnTypeUnknown() || isReplaceable(stage))) {
				return newStage(stage, guard);
			}
			if (!(stage instanceof Future<?>)) {
				throw LaterResult.unlimited(returned, guard.call());
			}
		}
		Future<?> future = (Future<?>) returned;
		// The handle of a durable task does not show its end.
		if (future.isDone() || !FutureCompletion.showsResult(future)) {
			return returned;
		}
		if (limit.mayReturn(LimitedFuture.class) && !limit.returnTypeUnknown()) {
			LimitedFuture<?> result = new LimitedFuture<>(future, guard);
			return guard.handOver(result.expiry()) ? result : returned;
		}
		return inPlace(future, guard);
	}

	private static boolean isDone(CompletionStage<?> stage) {
		try {
			return stage instanceof Future<?> future && future.isDone();
		}
		catch (UnsupportedOperationException ex) {
			// The minimal stages of CompletableFuture are futures without isDone.
			return false;
		}
	}

	/**
	 * Whether a caller that knows the class of a stage accepts a
	 * {@code CompletableFuture} in its place.
	 */
	private static boolean isReplaceable(CompletionStage<?> stage) {
		return stage.getClass() == CompletableFuture.class || !(stage instanceof Future<?>)
				|| stage.getClass().getEnclosingClass() == CompletableFuture.class;
	}

	/**
	 * The usual case. Cancelling the result cancels the source.
	 */
	private static <T> Object newStage(CompletionStage<T> source, InterruptGuard guard) {
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
	 * For a future of another declared type. The deadline completes it, or cancels it if
	 * it is no {@code CompletableFuture}.
	 */
	private static Object inPlace(Future<?> source, InterruptGuard guard) {
		Runnable expiry = (source instanceof CompletableFuture<?> future)
				? expiry(guard.call(), future, () -> !future.isDone())
				: expiry(guard.call(), new CompletableFuture<>(), () -> source.cancel(true));
		if (guard.handOver(expiry) && source instanceof CompletionStage<?> stage) {
			stage.whenComplete((value, failure) -> guard.cancelAction());
		}
		return source;
	}

	/**
	 * What the deadline of a call does, on an executor: ends the source, and completes
	 * the result with what the caller gets after the deadline.
	 * @param end ends the source; gives {@code false} if it is done
	 */
	static <T> Runnable expiry(LimitedCall call, CompletableFuture<T> result, BooleanSupplier end) {
		Callable<@Nullable Object> afterDeadline = call.afterDeadline();
		Executor executor = call.runtime().executor();
		return () -> executor.execute(() -> {
			if (end.getAsBoolean()) {
				call.notifyListeners();
				complete(result, afterDeadline, executor);
			}
		});
	}

	/**
	 * Lets a result follow that of a fallback, which is cancelled if the caller cancels.
	 */
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
		LaterResult.whenDone(value, executor, (outcome, failure) -> complete(result, (T) outcome, failure));
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
		catch (UnsupportedOperationException ex) {
			// A minimal stage, or a stage that is no future, cannot be cancelled.
		}
		catch (Throwable ex) {
			// The class of the future may belong to the application. The caller gets the
			// timeout all the same.
			logger.warn("A future could not be cancelled at the deadline of its call", ex);
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

		/** Where the caller gets the result: the source until the deadline ends it. */
		private volatile Future<T> current;

		LimitedFuture(Future<T> source, InterruptGuard guard) {
			this.source = source;
			this.guard = guard;
			this.current = source;
		}

		Runnable expiry() {
			return FutureTimeout.expiry(this.guard.call(), this.afterDeadline, this::endSource);
		}

		private boolean endSource() {
			if (this.source.isDone()) {
				return false;
			}
			// Before the source wakes up those who wait for it.
			this.current = this.afterDeadline;
			if (this.source.cancel(true)) {
				return true;
			}
			this.current = this.source;
			this.afterDeadline.cancel(false);
			return false;
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.guard.cancelAction();
			return this.current.cancel(mayInterruptIfRunning);
		}

		@Override
		public boolean isCancelled() {
			return this.current.isCancelled();
		}

		@Override
		public boolean isDone() {
			if (!this.current.isDone()) {
				return false;
			}
			this.guard.cancelAction();
			return true;
		}

		@Override
		public T get() throws InterruptedException, ExecutionException {
			return this.<RuntimeException>read(Future::get);
		}

		@Override
		public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
			long end = System.nanoTime() + unit.toNanos(timeout);
			return this.<TimeoutException>read(
					(future) -> future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
		}

		private <X extends Exception> T read(Reading<T, X> reading) throws InterruptedException, ExecutionException, X {
			while (true) {
				Future<T> read = this.current;
				try {
					return reading.from(read);
				}
				catch (CancellationException ex) {
					if (read == this.current) {
						throw ex;
					}
				}
				finally {
					isDone();
				}
			}
		}

		@FunctionalInterface
		private interface Reading<T, X extends Exception> {

			T from(Future<T> future) throws InterruptedException, ExecutionException, X;

		}

	}

}
