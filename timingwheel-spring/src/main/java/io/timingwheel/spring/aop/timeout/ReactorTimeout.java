package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.Executor;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Limits the time of each subscription of a {@code Mono} or {@code Flux}, from the
 * subscription to the completion. Only this class needs Reactor.
 */
final class ReactorTimeout {

	private final TimeLimit limit;

	private final long nanos;

	private final TimeoutRuntime runtime;

	private ReactorTimeout(TimeLimit limit, long nanos, TimeoutRuntime runtime) {
		this.limit = limit;
		this.nanos = nanos;
		this.runtime = runtime;
	}

	/**
	 * Limits what a method returned, if it is a publisher of Reactor.
	 * @param returned the returned object
	 * @param declared the return type of the method
	 * @return what the caller gets
	 */
	static Object apply(Object returned, Class<?> declared, TimeLimit limit, long nanos, TimeoutRuntime runtime) {
		if (returned instanceof Mono<?> mono && declared.isAssignableFrom(Mono.class)) {
			return new ReactorTimeout(limit, nanos, runtime).apply(mono);
		}
		if (returned instanceof Flux<?> flux && declared.isAssignableFrom(Flux.class)) {
			return new ReactorTimeout(limit, nanos, runtime).apply(flux);
		}
		return returned;
	}

	// The signal completes at the deadline instead of failing, because takeUntilOther
	// cancels the source only when the signal completes.

	private <T> Mono<T> apply(Mono<T> source) {
		return Mono.defer(() -> {
			SubscriptionTimer timer = new SubscriptionTimer();
			return source.takeUntilOther(timer.signal()).switchIfEmpty(timer.failure());
		});
	}

	private <T> Flux<T> apply(Flux<T> source) {
		return Flux.defer(() -> {
			SubscriptionTimer timer = new SubscriptionTimer();
			return source.takeUntilOther(timer.signal()).concatWith(timer.failure());
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
		 * Returns a publisher that fails if the deadline has passed, and is empty
		 * otherwise.
		 */
		<T> Mono<T> failure() {
			ReactorTimeout timeout = ReactorTimeout.this;
			return Mono
				.defer(() -> this.expired ? Mono.error(timeout.limit.newException(timeout.nanos)) : Mono.empty());
		}

		private @Nullable TimerHandle start(MonoSink<Void> sink) {
			Executor executor = ReactorTimeout.this.runtime.executor();
			DirectTask expiry = () -> executor.execute(() -> expire(sink));
			return ReactorTimeout.this.runtime.schedule(expiry, ReactorTimeout.this.nanos);
		}

		private void expire(MonoSink<Void> sink) {
			ReactorTimeout.this.runtime.timedOut(ReactorTimeout.this.limit);
			this.expired = true;
			sink.success();
		}

	}

}
