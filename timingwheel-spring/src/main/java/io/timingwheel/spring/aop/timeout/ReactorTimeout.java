package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.Executor;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Limits the time of each subscription of a {@code Mono} or {@code Flux}, from the
 * subscription to the completion. Only this class needs Reactor.
 */
final class ReactorTimeout {

	private final LimitedCall call;

	private ReactorTimeout(LimitedCall call) {
		this.call = call;
	}

	/**
	 * Limits what a method returned, if it is a publisher of Reactor.
	 * @param returned the returned object
	 * @return what the caller gets
	 */
	static Object apply(Object returned, LimitedCall call) {
		Class<?> declared = call.returnType();
		if (returned instanceof Mono<?> mono && declared.isAssignableFrom(Mono.class)) {
			return new ReactorTimeout(call).apply(mono);
		}
		if (returned instanceof Flux<?> flux && declared.isAssignableFrom(Flux.class)) {
			return new ReactorTimeout(call).apply(flux);
		}
		return returned;
	}

	// The signal completes at the deadline instead of failing, because takeUntilOther
	// cancels the source only when the signal completes.

	private <T> Mono<T> apply(Mono<T> source) {
		return Mono.defer(() -> {
			SubscriptionTimer timer = new SubscriptionTimer();
			return source.takeUntilOther(timer.signal())
				.switchIfEmpty(Mono.defer(() -> Mono.from(timer.afterSource())));
		});
	}

	private <T> Flux<T> apply(Flux<T> source) {
		return Flux.defer(() -> {
			SubscriptionTimer timer = new SubscriptionTimer();
			return source.takeUntilOther(timer.signal()).concatWith(Flux.defer(timer::afterSource));
		});
	}

	/**
	 * The timer of one subscription.
	 */
	private final class SubscriptionTimer {

		private volatile boolean expired;

		/**
		 * Returns a publisher that starts the timer, completes at the deadline, and
		 * cancels the timer when the subscription ends.
		 */
		Mono<Void> signal() {
			return Mono.create((sink) -> {
				TimerHandle timer = start(sink);
				if (timer != null) {
					sink.onDispose(timer::cancel);
				}
			});
		}

		/**
		 * Returns what follows the source: the timeout or the fallback if the deadline
		 * has passed, and nothing otherwise.
		 */
		@SuppressWarnings("unchecked")
		<T> Publisher<T> afterSource() {
			if (!this.expired) {
				return Mono.empty();
			}
			LimitedCall call = ReactorTimeout.this.call;
			try {
				Object value = call.afterDeadline(call.newException());
				return (value instanceof Publisher<?> publisher) ? (Publisher<T>) publisher
						: (Publisher<T>) Mono.justOrEmpty(value);
			}
			catch (Throwable ex) {
				return Mono.error(ex);
			}
		}

		private @Nullable TimerHandle start(MonoSink<Void> sink) {
			Executor executor = ReactorTimeout.this.call.runtime().executor();
			DirectTask expiry = () -> executor.execute(() -> expire(sink));
			return ReactorTimeout.this.call.runtime().schedule(expiry, ReactorTimeout.this.call.nanos());
		}

		private void expire(MonoSink<Void> sink) {
			ReactorTimeout.this.call.notifyListeners();
			this.expired = true;
			sink.success();
		}

	}

}
