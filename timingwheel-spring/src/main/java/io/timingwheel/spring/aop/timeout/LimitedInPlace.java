package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

/**
 * A future of a type that cannot be wrapped, as the method declares a type of its own: at
 * the deadline the future itself is failed, or cancelled where it cannot be failed.
 */
final class LimitedInPlace implements PendingResult {

	private final Future<?> source;

	private final InterruptGuard guard;

	private final TimeoutEvents events;

	LimitedInPlace(Future<?> source, InterruptGuard guard, TimeoutEvents events) {
		this.source = source;
		this.guard = guard;
		this.events = events;
	}

	@Override
	public Object follow() {
		if (this.source instanceof CompletionStage<?> stage) {
			stage.whenComplete((value, failure) -> this.guard.callOff());
		}
		return this.source;
	}

	@Override
	public void expire() {
		boolean expired = (this.source instanceof CompletableFuture<?> future)
				? future.completeExceptionally(this.guard.exception()) : this.source.cancel(true);
		if (expired) {
			this.events.timedOut(this.guard.limit());
		}
	}

	@Override
	public void cancelSource() {
		this.source.cancel(true);
	}

}
