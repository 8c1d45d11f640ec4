package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * The common case: the caller gets a {@code CompletableFuture} that completes as the
 * source does, or at the deadline. Cancelling it cancels the source.
 */
final class LimitedStage<T> implements PendingResult {

	private final CompletionStage<T> source;

	private final InterruptGuard guard;

	private final TimeoutEvents events;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	LimitedStage(CompletionStage<T> source, InterruptGuard guard, TimeoutEvents events) {
		this.source = source;
		this.guard = guard;
		this.events = events;
	}

	@Override
	public Object follow() {
		this.result.whenComplete((value, failure) -> completedByCaller());
		this.source.whenComplete(this::complete);
		return this.result;
	}

	private void complete(T value, @Nullable Throwable failure) {
		if (this.guard.callOff()) {
			if (failure != null) {
				this.result.completeExceptionally(failure);
			}
			else {
				this.result.complete(value);
			}
		}
	}

	private void completedByCaller() {
		if (this.guard.callOff() && this.result.isCancelled()) {
			cancelSource();
		}
	}

	@Override
	public void expire() {
		this.events.timedOut(this.guard.limit());
		this.result.completeExceptionally(this.guard.exception());
		cancelSource();
	}

	@Override
	public void cancelSource() {
		PendingResult.cancelSource(this.source);
	}

}
