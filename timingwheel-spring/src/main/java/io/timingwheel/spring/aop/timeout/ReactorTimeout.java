package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

import org.springframework.core.ReactiveAdapter;

/**
 * Limits the time of each subscription of a {@code Mono}, a {@code Flux}, or another type
 * that Spring adapts to them, from the subscription to the completion. Only this class
 * needs Reactor.
 */
final class ReactorTimeout {

	private final LimitedCall call;

	/** What a subscriber gets after the deadline, in the context of the call. */
	private final Callable<@Nullable Object> afterDeadline;

	private ReactorTimeout(LimitedCall call) {
		this.call = call;
		this.afterDeadline = call.afterDeadline();
	}

	static @Nullable Object apply(Object returned, LimitedCall call) {
		ReactiveAdapter adapter = ReactiveTypes.adapterOf(returned.getClass());
		if (adapter == null || !call.limit().returnType().isAssignableFrom(adapter.getReactiveType())) {
			return null;
		}
		Publisher<?> source = adapter.toPublisher(returned);
		ReactorTimeout limited = new ReactorTimeout(call);
		return adapter.fromPublisher(
				adapter.isMultiValue() ? limited.apply(Flux.from(source)) : limited.apply(Mono.from(source)));
	}

	// The signal completes at the deadline instead of failing, because takeUntilOther
	// cancels the source only when the signal completes. The clock decides about what
	// comes while the wheel's thread is late.

	private <T> Mono<T> apply(Mono<T> source) {
		return Mono.defer(() -> {
			Subscription subscription = new Subscription();
			return source.takeUntilOther(subscription.deadline())
				.filter((value) -> !subscription.isExpired())
				.onErrorResume((ex) -> subscription.isExpired(), (ex) -> Mono.empty())
				.switchIfEmpty(Mono.defer(() -> Mono.from(subscription.afterSource())));
		});
	}

	private <T> Flux<T> apply(Flux<T> source) {
		return Flux.defer(() -> {
			Subscription subscription = new Subscription();
			return source.takeUntilOther(subscription.deadline())
				.takeWhile((value) -> !subscription.isExpired())
				.onErrorResume((ex) -> subscription.isExpired(), (ex) -> Mono.empty())
				.concatWith(Flux.defer(subscription::afterSource));
		});
	}

	private final class Subscription {

		private final long startNanos = ReactorTimeout.this.call.runtime().nanoTime();

		/** Whether there is a limit: the wheel has not stopped. */
		private volatile boolean limited;

		private final AtomicBoolean expired = new AtomicBoolean();

		/**
		 * Returns a publisher that starts the timer, completes at the deadline, and
		 * cancels the timer when the subscription ends.
		 */
		Mono<Void> deadline() {
			return Mono.create((sink) -> {
				TimerHandle timer = start(sink);
				if (timer != null) {
					this.limited = true;
					sink.onDispose(timer::cancel);
				}
			});
		}

		boolean isExpired() {
			LimitedCall call = ReactorTimeout.this.call;
			if (this.limited && call.runtime().nanoTime() - this.startNanos >= call.nanos()) {
				expire();
			}
			return this.expired.get();
		}

		/**
		 * Returns what follows the source: the timeout or the fallback if the deadline
		 * has passed, and nothing otherwise.
		 */
		@SuppressWarnings("unchecked")
		<T> Publisher<T> afterSource() {
			if (!isExpired()) {
				return Mono.empty();
			}
			try {
				Object value = ReactorTimeout.this.afterDeadline.call();
				if (value == null) {
					return Mono.empty();
				}
				ReactiveAdapter adapter = ReactiveTypes.adapterOf(value.getClass());
				return (adapter != null) ? adapter.toPublisher(value) : (Publisher<T>) Mono.just(value);
			}
			catch (Throwable ex) {
				return Mono.error(ex);
			}
		}

		private @Nullable TimerHandle start(MonoSink<Void> sink) {
			Executor executor = ReactorTimeout.this.call.runtime().executor();
			DirectTask expiry = () -> executor.execute(() -> {
				expire();
				sink.success();
			});
			return ReactorTimeout.this.call.runtime()
				.schedule(expiry, this.startNanos, ReactorTimeout.this.call.nanos());
		}

		private void expire() {
			if (this.expired.compareAndSet(false, true)) {
				ReactorTimeout.this.call.notifyListeners();
			}
		}

	}

}
