package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

import io.timingwheel.spring.task.internal.FutureCompletion;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Limits the time of a future that a method returned before the future was done. The
 * deadline still counts from the call. Below, "source" is the future that the method
 * returned, and "result" is what the caller gets.
 */
abstract class FutureTimeout {

	private static final Log logger = LogFactory.getLog(FutureTimeout.class);

	final InterruptGuard guard;

	final LimitedCall call;

	/** What the caller gets after the deadline, in the context of the call. */
	private final Callable<@Nullable Object> afterDeadline;

	FutureTimeout(InterruptGuard guard) {
		this.guard = guard;
		this.call = guard.call();
		this.afterDeadline = this.call.afterDeadline();
	}

	/**
	 * Chooses how to limit what a method returned. Gives {@code null} if this is no
	 * future, is done, or is the handle of a durable task, which does not show its end.
	 */
	static @Nullable FutureTimeout of(@Nullable Object returned, InterruptGuard guard) {
		LimitedCall call = guard.call();
		Class<?> declared = call.limit().returnType();
		if (returned instanceof CompletionStage<?> stage) {
			if (isDone(stage)) {
				return null;
			}
			if (declared.isAssignableFrom(CompletableFuture.class)
					&& (!call.limit().returnTypeUnknown() || isReplaceable(stage))) {
				return new NewStage<>(stage, guard);
			}
			Assert.state(stage instanceof Future<?>, () -> call.describe()
					+ ": @Timeout can neither cancel the %s nor return another one; declare CompletionStage or CompletableFuture as the return type"
						.formatted(declared.getSimpleName()));
			return new InPlace((Future<?>) stage, guard);
		}
		if (returned instanceof Future<?> future && FutureCompletion.showsResult(future) && !future.isDone()) {
			return (declared.isAssignableFrom(FutureWrapper.class) && !call.limit().returnTypeUnknown())
					? new FutureWrapper<>(future, guard) : new InPlace(future, guard);
		}
		return (returned != null) ? LaterResult.startedWork(returned, guard) : null;
	}

	/**
	 * Whether a caller that knows the class of a stage accepts a
	 * {@code CompletableFuture} in its place.
	 */
	private static boolean isReplaceable(CompletionStage<?> stage) {
		return stage.getClass() == CompletableFuture.class || !(stage instanceof Future<?>)
				|| stage.getClass().getEnclosingClass() == CompletableFuture.class;
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

	static void cancelSource(@Nullable Object returned) {
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
	 * Lets the deadline end the future instead of interrupting the thread of the call.
	 */
	final boolean handOver() {
		Executor executor = this.call.runtime().executor();
		return this.guard.handOver(() -> executor.execute(this::expire));
	}

	/**
	 * Starts to watch the source, after handing over, and returns the result.
	 */
	abstract Object start();

	/**
	 * Ends the result and cancels the source, on an executor, at the deadline.
	 */
	abstract void expire();

	/**
	 * Completes a future with what the caller gets after the deadline. The future of a
	 * fallback is followed, and is cancelled if the caller cancels.
	 */
	@SuppressWarnings("unchecked")
	final <T> void completeAfterDeadline(CompletableFuture<T> result) {
		Object value;
		try {
			value = this.afterDeadline.call();
		}
		catch (Throwable ex) {
			result.completeExceptionally(ex);
			return;
		}
		follow(value, (outcome, failure) -> complete(result, (T) outcome, failure));
		result.whenComplete((outcome, failure) -> {
			if (result.isCancelled()) {
				cancelSource(value);
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

	void follow(@Nullable Object value, BiConsumer<@Nullable Object, @Nullable Throwable> completion) {
		if (value instanceof CompletionStage<?> stage) {
			FutureCompletion.whenDone(stage, completion);
		}
		else if (value instanceof Future<?> future) {
			FutureCompletion.whenDone(future, this.call.runtime().executor(), completion);
		}
		else {
			completion.accept(value, null);
		}
	}

	/**
	 * The usual case. The result is a new {@code CompletableFuture}. Cancelling the
	 * result cancels the source.
	 */
	private static final class NewStage<T> extends FutureTimeout {

		private final CompletionStage<T> source;

		private final CompletableFuture<T> result = new CompletableFuture<>();

		NewStage(CompletionStage<T> source, InterruptGuard guard) {
			super(guard);
			this.source = source;
		}

		@Override
		Object start() {
			this.result.whenComplete((value, failure) -> onResult());
			this.source.whenComplete(this::onSource);
			return this.result;
		}

		private void onSource(T value, @Nullable Throwable failure) {
			if (this.guard.cancelAction()) {
				if (this.guard.isPastDeadline()) {
					this.call.runtime().executor().execute(this::expire);
				}
				else {
					complete(this.result, value, failure);
				}
			}
		}

		/** Has an effect only if the caller completed the result. */
		private void onResult() {
			if (this.guard.cancelAction() && this.result.isCancelled()) {
				cancelSource(this.source);
			}
		}

		@Override
		void expire() {
			this.call.notifyListeners();
			cancelSource(this.source);
			completeAfterDeadline(this.result);
		}

	}

	/**
	 * For a plain {@code Future}, which has no callbacks. The result wraps the source,
	 * which the deadline cancels. The timer is cancelled at the first call of the result
	 * after the source is done; else it has no effect.
	 */
	private static final class FutureWrapper<T> extends FutureTimeout implements Future<T> {

		private final Future<T> source;

		/** What the caller gets if the deadline has cancelled the source. */
		private volatile @Nullable CompletableFuture<T> afterDeadline;

		FutureWrapper(Future<T> source, InterruptGuard guard) {
			super(guard);
			this.source = source;
		}

		@Override
		Object start() {
			return this;
		}

		@Override
		void expire() {
			if (this.source.isDone()) {
				return;
			}
			CompletableFuture<T> result = new CompletableFuture<>();
			this.afterDeadline = result;
			if (this.source.cancel(true)) {
				this.call.notifyListeners();
				completeAfterDeadline(result);
			}
			else {
				// The caller has cancelled the source in the meantime, or it has
				// completed.
				result.cancel(false);
			}
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.guard.cancelAction();
			CompletableFuture<T> result = this.afterDeadline;
			boolean cancelled = this.source.cancel(mayInterruptIfRunning);
			return (result != null) ? result.cancel(mayInterruptIfRunning) : cancelled;
		}

		@Override
		public boolean isCancelled() {
			CompletableFuture<T> result = this.afterDeadline;
			return this.source.isCancelled() && (result == null || result.isCancelled());
		}

		@Override
		public boolean isDone() {
			if (!this.source.isDone()) {
				return false;
			}
			this.guard.cancelAction();
			CompletableFuture<T> result = this.afterDeadline;
			return result == null || result.isDone() || !this.source.isCancelled();
		}

		@Override
		public T get() throws InterruptedException, ExecutionException {
			try {
				return this.source.get();
			}
			catch (CancellationException ex) {
				return afterDeadline(ex).get();
			}
			finally {
				isDone();
			}
		}

		@Override
		public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
			long start = System.nanoTime();
			try {
				return this.source.get(timeout, unit);
			}
			catch (CancellationException ex) {
				long left = unit.toNanos(timeout) - (System.nanoTime() - start);
				return afterDeadline(ex).get(Math.max(0, left), TimeUnit.NANOSECONDS);
			}
			finally {
				isDone();
			}
		}

		private Future<T> afterDeadline(CancellationException cancellation) {
			CompletableFuture<T> result = this.afterDeadline;
			if (result == null) {
				throw cancellation;
			}
			return result;
		}

	}

	/**
	 * For another type of future. The result is the source itself, which the deadline
	 * completes, or cancels if it is no {@code CompletableFuture}.
	 */
	private static final class InPlace extends FutureTimeout {

		private final Future<?> source;

		InPlace(Future<?> source, InterruptGuard guard) {
			super(guard);
			this.source = source;
		}

		@Override
		Object start() {
			if (this.source instanceof CompletionStage<?> stage) {
				stage.whenComplete((value, failure) -> this.guard.cancelAction());
			}
			return this.source;
		}

		@Override
		void expire() {
			if (this.source.isDone()) {
				return;
			}
			if (this.source instanceof CompletableFuture<?> future) {
				this.call.notifyListeners();
				completeAfterDeadline(future);
			}
			else if (this.source.cancel(true)) {
				this.call.notifyListeners();
			}
		}

	}

}
