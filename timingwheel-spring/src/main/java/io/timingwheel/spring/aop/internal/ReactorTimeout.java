package io.timingwheel.spring.aop.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

import io.timingwheel.TimerHandle;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.core.ReactiveAdapter;

/**
 * Limits the time of one subscription of a publisher, from the subscription to the
 * completion. Only this class needs Reactor.
 */
final class ReactorTimeout {

	private final LimitedCall call;

	private final ReactiveAdapter adapter;

	private final long startNanos;

	private final AtomicBoolean expired = new AtomicBoolean();

	private ReactorTimeout(LimitedCall call, ReactiveAdapter adapter) {
		this.call = call;
		this.adapter = adapter;
		this.startNanos = call.runtime().wheel().nanoTime();
	}

	static Object limit(Object returned, InterruptGuard guard, ReactiveAdapter adapter) {
		LimitedCall call = guard.call;
		Callable<@Nullable Object> afterDeadline = call.afterDeadline();
		Flux<?> source = Flux.from(adapter.toPublisher(returned));
		Flux<?> limited = Flux.defer(() -> new ReactorTimeout(call, adapter).limit(source, afterDeadline));
		return adapter.fromPublisher(adapter.isMultiValue() ? limited : limited.takeLast(1).singleOrEmpty());
	}

	// The signal completes at the deadline instead of failing, because takeUntilOther
	// cancels the source only when the signal completes. The clock decides about what
	// comes while the wheel's thread is late.
	private <T> Flux<T> limit(Flux<T> source, Callable<@Nullable Object> afterDeadline) {
		Sinks.Empty<Void> deadline = Sinks.empty();
		TimerHandle timer = this.call.runtime().schedule(() -> this.call.runtime().executor().execute(() -> {
			expire();
			deadline.tryEmitEmpty();
		}), this.startNanos, this.call.nanos());
		if (timer == null) {
			return source;
		}
		return source.takeUntilOther(deadline.asMono().doOnCancel(timer::cancel))
			.takeWhile((value) -> !isExpired())
			.onErrorResume((ex) -> isExpired(), (ex) -> Mono.empty())
			.concatWith(Flux.defer(() -> isExpired() ? after(afterDeadline) : Mono.empty()));
	}

	private boolean isExpired() {
		if (this.call.runtime().wheel().nanoTime() - this.startNanos >= this.call.nanos()) {
			expire();
		}
		return this.expired.get();
	}

	private void expire() {
		if (this.expired.compareAndSet(false, true)) {
			this.call.notifyListeners();
		}
	}

	private <T> Publisher<T> after(Callable<@Nullable Object> deadline) {
		try {
			return this.adapter.toPublisher(deadline.call());
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

}
