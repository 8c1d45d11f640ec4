package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Limits the time of a future that a method returned before the future was done. The
 * deadline still counts from the call. Below, "source" is the future that the method
 * returned, and "result" is what the caller gets.
 */
abstract class FutureTimeout {

	private final InterruptGuard guard;

	private final TimeoutRuntime runtime;

	private FutureTimeout(InterruptGuard guard, TimeoutRuntime runtime) {
		this.guard = guard;
		this.runtime = runtime;
	}

	/**
	 * Chooses how to limit what a method returned.
	 * @param returned the returned object
	 * @param declared the return type of the method
	 * @param guard the guard of the call
	 * @return the limit; {@code null} if the object is no future or is done
	 */
	static @Nullable FutureTimeout of(@Nullable Object returned, Class<?> declared, InterruptGuard guard,
			TimeoutRuntime runtime) {
		if (returned instanceof CompletionStage<?> stage) {
			if (isDone(stage)) {
				return null;
			}
			return (!declared.isAssignableFrom(CompletableFuture.class) && stage instanceof Future<?> future)
					? new InPlace(future, guard, runtime) : new NewStage<>(stage, guard, runtime);
		}
		if (returned instanceof Future<?> future && !future.isDone()) {
			return declared.isAssignableFrom(FutureWrapper.class) ? new FutureWrapper<>(future, guard, runtime)
					: new InPlace(future, guard, runtime);
		}
		return null;
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
	 * Cancels the source, because nobody will get its result.
	 * @param returned what the method returned; need not be a future
	 */
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
	}

	/**
	 * Starts to watch the source, after the guard has been
	 * {@linkplain InterruptGuard#handOver handed over}.
	 * @return the result
	 */
	abstract Object start();

	/**
	 * Ends the result with the timeout and cancels the source. An executor calls this
	 * method at the deadline.
	 */
	abstract void expire();

	final boolean stopTimer() {
		return this.guard.cancelAction();
	}

	final MethodTimeoutException newException() {
		return this.guard.newException();
	}

	final void notifyListeners() {
		this.runtime.timedOut(this.guard.limit());
	}

	/**
	 * The usual case. The result is a new {@code CompletableFuture}. Cancelling the
	 * result cancels the source.
	 */
	private static final class NewStage<T> extends FutureTimeout {

		private final CompletionStage<T> source;

		private final CompletableFuture<T> result = new CompletableFuture<>();

		NewStage(CompletionStage<T> source, InterruptGuard guard, TimeoutRuntime runtime) {
			super(guard, runtime);
			this.source = source;
		}

		@Override
		Object start() {
			this.result.whenComplete((value, failure) -> onResult());
			this.source.whenComplete(this::onSource);
			return this.result;
		}

		private void onSource(T value, @Nullable Throwable failure) {
			if (stopTimer()) {
				if (failure != null) {
					this.result.completeExceptionally(failure);
				}
				else {
					this.result.complete(value);
				}
			}
		}

		/** Has an effect only if the caller completed the result. */
		private void onResult() {
			if (stopTimer() && this.result.isCancelled()) {
				cancelSource(this.source);
			}
		}

		@Override
		void expire() {
			notifyListeners();
			this.result.completeExceptionally(newException());
			cancelSource(this.source);
		}

	}

	/**
	 * For a plain {@code Future}, which has no callbacks. The result wraps the source. At
	 * the deadline the source is cancelled, and the result then reports the timeout. The
	 * timer is cancelled at the first call of the result after the source is done.
	 * Without such a call the timer expires and has no effect.
	 */
	private static final class FutureWrapper<T> extends FutureTimeout implements Future<T> {

		private final Future<T> source;

		private volatile @Nullable MethodTimeoutException timeout;

		FutureWrapper(Future<T> source, InterruptGuard guard, TimeoutRuntime runtime) {
			super(guard, runtime);
			this.source = source;
		}

		@Override
		Object start() {
			return this;
		}

		@Override
		void expire() {
			if (!this.source.isDone()) {
				this.timeout = newException();
				if (this.source.cancel(true)) {
					notifyListeners();
				}
			}
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			stopTimer();
			return this.source.cancel(mayInterruptIfRunning);
		}

		@Override
		public boolean isCancelled() {
			return this.source.isCancelled() && this.timeout == null;
		}

		@Override
		public boolean isDone() {
			boolean done = this.source.isDone();
			if (done) {
				stopTimer();
			}
			return done;
		}

		@Override
		public T get() throws InterruptedException, ExecutionException {
			try {
				return this.source.get();
			}
			catch (CancellationException ex) {
				throw explain(ex);
			}
			finally {
				isDone();
			}
		}

		@Override
		public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
			try {
				return this.source.get(timeout, unit);
			}
			catch (CancellationException ex) {
				throw explain(ex);
			}
			finally {
				isDone();
			}
		}

		private CancellationException explain(CancellationException cancellation) throws ExecutionException {
			MethodTimeoutException timeout = this.timeout;
			if (timeout != null) {
				throw new ExecutionException(timeout);
			}
			return cancellation;
		}

	}

	/**
	 * For a method whose return type is another type of future. The result is the source
	 * itself. At the deadline the source is completed with the timeout, or cancelled if
	 * it is no {@code CompletableFuture}.
	 */
	private static final class InPlace extends FutureTimeout {

		private final Future<?> source;

		InPlace(Future<?> source, InterruptGuard guard, TimeoutRuntime runtime) {
			super(guard, runtime);
			this.source = source;
		}

		@Override
		Object start() {
			if (this.source instanceof CompletionStage<?> stage) {
				stage.whenComplete((value, failure) -> stopTimer());
			}
			return this.source;
		}

		@Override
		void expire() {
			boolean expired = (this.source instanceof CompletableFuture<?> future)
					? future.completeExceptionally(newException()) : this.source.cancel(true);
			if (expired) {
				notifyListeners();
			}
		}

	}

}
